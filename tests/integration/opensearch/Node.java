import org.codelibs.opensearch.runner.OpenSearchRunner;

/** One node of OpenSearch with its data in a folder, on free loopback ports; it ends with its process. */
public final class Node {
    public static void main(final String[] given) throws Exception {
        final OpenSearchRunner runner = new OpenSearchRunner();
        runner.onBuild((number, settings) -> settings
                .put("network.host", "127.0.0.1")
                .put("http.port", "0")
                .put("transport.port", "0")
                .put("discovery.type", "single-node")
                .put("cluster.routing.allocation.disk.threshold_enabled", false));
        runner.build(OpenSearchRunner.newConfigs().basePath(given[0]).numOfNode(1).useLogger());
        Thread.currentThread().join();
    }
}
