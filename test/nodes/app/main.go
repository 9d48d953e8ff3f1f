// The program in the test images: it serves HTTP, or fails in the way that its environment asks for. As "pause" it only
// holds a pod's namespaces.
package main

import (
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	if len(os.Args) > 1 && os.Args[1] == "pause" {
		pause(stop)
		return
	}
	if os.Getenv("CRASH") != "" {
		fmt.Println("crashing as configured")
		os.Exit(3)
	}
	// Before it serves: a version that needs too much memory must not be ready in between.
	eat(number("EAT_MIB"))
	go serve()
	<-stop
	fmt.Println("stopping")
	time.Sleep(time.Duration(number("STOP_MS")) * time.Millisecond)
}

func number(name string) int {
	value, _ := strconv.Atoi(os.Getenv(name))
	return value
}

var kept [][]byte

// eat takes memory until the limit of the container ends it.
func eat(mebibytes int) {
	for range mebibytes {
		page := make([]byte, 1<<20)
		for i := 0; i < len(page); i += 4096 {
			page[i] = 1
		}
		kept = append(kept, page)
	}
}

func serve() {
	version, _ := os.ReadFile("/version")
	neverReady := os.Getenv("NEVER_READY") != ""
	time.Sleep(time.Duration(number("START_MS")) * time.Millisecond)
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, strings.TrimSpace(string(version))) })
	http.HandleFunc("/ready", func(w http.ResponseWriter, _ *http.Request) {
		if neverReady {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	address := os.Getenv("ADDRESS")
	if address == "" {
		address = ":8080"
	}
	fmt.Println(http.ListenAndServe(address, nil))
	os.Exit(1)
}

// pause reaps the orphans of its pod, of which it is the first process when they share a process namespace.
func pause(stop chan os.Signal) {
	children := make(chan os.Signal, 16)
	signal.Notify(children, syscall.SIGCHLD)
	for {
		select {
		case <-stop:
			return
		case <-children:
			for {
				if pid, _ := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid <= 0 {
					break
				}
			}
		}
	}
}
