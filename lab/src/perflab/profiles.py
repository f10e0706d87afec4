"""The profiles of labs, the emulators of each, and the products that a lab can run itself."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

KUBERNETES, OPENSHIFT = "kubernetes", "openshift"

# every handwritten CustomResourceDefinition: `emulators/EMULATOR.yaml`, `catalogs/PACKAGE.yaml`
CRDS = Path(__file__).parent / "crds"
_ROOM = "perflab.emulators"
# the emulators and their packages, which only the processes that run them import
_PACKAGES: Mapping[str, str] = {
    "volumes": "kubernetes.volumes",
    "local_volumes": "kubernetes.local_volumes",
    "trainers": "kubernetes.trainers",
    "gateway": "kubernetes.gateway",
    "leader_worker_sets": "kubernetes.leader_worker_sets",
    "openshift": "openshift.platform",
    "machines": "openshift.machines",
    "machine_config": "openshift.machine_config",
    "monitoring": "openshift.monitoring",
    "builds": "openshift.builds",
    "hive": "openshift.hive",
    "nfd": "operators.nfd",
    "gpu_operator": "operators.gpu_operator",
    "rhoai": "operators.rhoai",
    "rhoai_webhooks": "operators.rhoai_webhooks",
    "modelmesh": "operators.modelmesh",
    "data_science": "operators.data_science",
    "runai": "queues.runai",
}
NAMES = tuple(_PACKAGES)
# in the order in which `--emulate` lists them
OFFERED = ("runai", "modelmesh")
# what else a lab can run, in the order in which `--with` lists them, and the ports of each: products with their own
# controllers, the simulated model servers, and a real node
KUEUE, RAY, KSERVE, ARGO, MODELS, WORKER = "kueue", "ray", "kserve", "argo", "models", "worker"
TRAINING_OPERATOR = "training-operator"
ENDPOINT_PICKER = "endpoint-picker"
PICKER_METRICS = f"{ENDPOINT_PICKER}-metrics"
KEDA = "keda"
KEDA_GRPC, KEDA_ADAPTER = f"{KEDA}-grpc", f"{KEDA}-adapter"
JOBSET, LWS, TRAINER = "jobset", "lws", "trainer"
MODELS_GRPC = f"{MODELS}-grpc"
PRODUCTS: Mapping[str, tuple[str, ...]] = {
    KUEUE: (KUEUE, f"{KUEUE}-webhook", f"{KUEUE}-metrics", f"{KUEUE}-pprof"),
    RAY: (RAY,),
    TRAINING_OPERATOR: (TRAINING_OPERATOR, f"{TRAINING_OPERATOR}-webhook"),
    JOBSET: (JOBSET, f"{JOBSET}-webhook"),
    LWS: (LWS, f"{LWS}-webhook"),
    TRAINER: (TRAINER, f"{TRAINER}-webhook"),
    KSERVE: (KSERVE, f"{KSERVE}-webhook"),
    KEDA: (KEDA, KEDA_GRPC),
    ENDPOINT_PICKER: (ENDPOINT_PICKER, f"{ENDPOINT_PICKER}-grpc", PICKER_METRICS),
    ARGO: (ARGO,),
    MODELS: (MODELS, MODELS_GRPC),
    WORKER: (WORKER,),
}
# the products that others need: the models of KServe need servers, a TrainJob becomes a JobSet, and Run:ai creates
# PyTorchJobs
_BRINGS: Mapping[str, tuple[str, ...]] = {
    KSERVE: (MODELS,),
    ENDPOINT_PICKER: (KSERVE, MODELS),
    TRAINER: (JOBSET,),
    "runai": (TRAINING_OPERATOR,),
}
# the server of the API of Data Science Pipelines, which creates Workflows of Argo
PIPELINES = "pipelines"
# the gateway to KServe's models, the emulator that configures it, and the emulator of models on several nodes
ENVOY, GATEWAY, LEADER_WORKER_SETS = "envoy", "gateway", "leader_worker_sets"
# the emulators that labs with a product have
_OF_PRODUCTS: Mapping[str, tuple[str, ...]] = {
    RAY: ("trainers",),
    TRAINING_OPERATOR: ("trainers",),
    KSERVE: (GATEWAY, LEADER_WORKER_SETS),
    ARGO: ("data_science",),
    WORKER: ("local_volumes",),
}
# emulators that a lab with the real product does not need
_REPLACED_BY: Mapping[str, str] = {LWS: LEADER_WORKER_SETS}
# what a real node needs in addition
METRICS_SERVER = "metrics-server"
_BROUGHT_WITH: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    KSERVE: {ENVOY: (ENVOY, f"{ENVOY}-admin")},
    KEDA: {KEDA_ADAPTER: (KEDA_ADAPTER,)},
    ARGO: {PIPELINES: (PIPELINES,)},
    WORKER: {METRICS_SERVER: (METRICS_SERVER,)},
}
# what a real node of an ordinary user does not have
WITHOUT_ROOT = ("limits of pods", "users of pods except 0", "metrics of pods", "pods and Services from this machine")
# programs of this project that stand for others
_EMULATED = (MODELS, PIPELINES)
# a store for the tests of exports and a model server for those of machines, which no lab runs
S3, LLAMA_CPP = "s3", "llama-cpp"
# part of a profile, not an option
OLM = "olm"
_BROUGHT: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    KUBERNETES: {},
    OPENSHIFT: {OLM: (OLM, f"{OLM}-packages"), TRAINING_OPERATOR: PRODUCTS[TRAINING_OPERATOR]},
}
# what every lab has
STANDARD = ("volumes",)
# what else a lab of each profile has
PROFILES: Mapping[str, tuple[str, ...]] = {
    KUBERNETES: (),
    OPENSHIFT: (
        *("trainers", "openshift", "machines", "machine_config", "monitoring", "builds", "hive"),
        *("nfd", "gpu_operator", "rhoai", "rhoai_webhooks"),
    ),
}


def requested(products: Iterable[str]) -> tuple[str, ...]:
    """Return the products of a lab in order, with those that these, or emulated ones, bring."""
    names = {each for name in products for each in (name, *_BRINGS.get(name, ()))}
    return tuple(name for name in PRODUCTS if name in names)


def chosen(profile: str, emulate: Iterable[str], products: Collection[str] = ()) -> tuple[str, ...]:
    """Return the emulators of a lab: every lab's, its profile's, its products', and requested ones; each once."""
    of_products = (emulator for product in products for emulator in _OF_PRODUCTS.get(product, ()))
    replaced = {_REPLACED_BY.get(product) for product in products}
    named = dict.fromkeys((*STANDARD, *PROFILES[profile], *of_products, *emulate))
    return tuple(name for name in named if name not in replaced)


def running(profile: str, products: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the products that a lab runs, with their ports: its profile's, requested ones, and their dependencies."""
    found = dict(_BROUGHT[profile])
    for name in products:
        found |= {name: PRODUCTS[name], **_BROUGHT_WITH.get(name, {})}
    return found


def real(profile: str, products: Iterable[str], *, rootless: bool = False) -> list[str]:
    """Return those of them that are real products, without those that a real node without root cannot have."""
    absent = {METRICS_SERVER} if rootless else set()
    return [name for name in running(profile, products) if name not in (*_EMULATED, *absent)]


def emulated(profile: str, products: Iterable[str]) -> list[str]:
    """Return those of them that the lab emulates."""
    return [name for name in running(profile, products) if name in _EMULATED]


def package(name: str) -> str:
    """Return the Python package of an emulator, `perflab.emulators.queues.runai`."""
    return f"{_ROOM}.{_PACKAGES[name]}"


def folder(name: str) -> Path:
    """Return the folder of an emulator."""
    return Path(__file__).parent.joinpath("emulators", *_PACKAGES[name].split("."))


def crds(name: str) -> Path:
    """Return the file with the CustomResourceDefinitions that an emulator serves; it may be missing."""
    return CRDS / "emulators" / f"{name}.yaml"
