// Posts the JSON bodies of a file, one a line, to one URL, as the upper limit of the rate of a compiled client.
// Prints the protocol and the seconds from the first request to the last response.
package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"sync"
	"time"
)

func main() {
	url := flag.String("url", "", "URL of the collection")
	bodies := flag.String("bodies", "", "file of JSON bodies")
	ca := flag.String("ca", "", "certificate of the authority")
	cert := flag.String("cert", "", "certificate of the client")
	key := flag.String("key", "", "key of the client")
	concurrent := flag.Int("concurrent", 128, "concurrent requests")
	http2 := flag.Bool("http2", true, "use HTTP/2, not a connection for each concurrent request")
	flag.Parse()

	pair, err := tls.LoadX509KeyPair(*cert, *key)
	check(err)
	authority, err := os.ReadFile(*ca)
	check(err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	transport := &http.Transport{
		TLSClientConfig:     &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: roots},
		ForceAttemptHTTP2:   *http2,
		MaxIdleConnsPerHost: *concurrent,
		DisableCompression:  true,
	}
	client := &http.Client{Transport: transport}
	content, err := os.ReadFile(*bodies)
	check(err)
	lines := bytes.Split(bytes.TrimSpace(content), []byte("\n"))

	work := make(chan []byte)
	var protocol sync.Map
	var group sync.WaitGroup
	began := time.Now()
	for range *concurrent {
		group.Add(1)
		go func() {
			defer group.Done()
			for body := range work {
				protocol.Store(post(client, *url, body), true)
			}
		}()
	}
	for _, line := range lines {
		work <- line
	}
	close(work)
	group.Wait()
	took := time.Since(began).Seconds()
	protocol.Range(func(name, _ any) bool {
		fmt.Printf("%s ", name)
		return true
	})
	fmt.Printf("%.4f\n", took)
}

// post sends one body and returns the protocol of the response.
func post(client *http.Client, url string, body []byte) string {
	response, err := client.Post(url, "application/json", bytes.NewReader(body))
	check(err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	check(err)
	if response.StatusCode != http.StatusCreated {
		log.Fatalf("%s: %s", response.Status, text)
	}
	return response.Proto
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
