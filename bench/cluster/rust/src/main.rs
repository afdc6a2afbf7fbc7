// SPDX-License-Identifier: Apache-2.0

//! The kube-rs side of bench/cluster: a reflector of all pods with one consumer of its events,
//! which obeys the commands that all clients there obey. ../../README.md tells them.

use std::io::{BufRead, Write};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use futures::StreamExt;
use k8s_openapi::api::core::v1::{Pod, PodSpec, PodStatus};
use kube::config::{Config, KubeConfigOptions, Kubeconfig};
use kube::runtime::reflector::{self, Store};
use kube::runtime::watcher::{self, Event};
use kube::runtime::{WatchStreamExt, watcher as watch};
use kube::{Api, Client};

const KEPT_MARKS: usize = 65536; // of the last events

/// One event: the version that it brought, and when it was heard of.
type Mark = (u64, u128);

#[derive(Default)]
struct Program {
    events: AtomicU64, // after the first sync
    last: AtomicU64,   // version of them
    wanted: AtomicU64, // version to report; 0: none
    marks: Mutex<Vec<Mark>>,
}

fn now_ns() -> u128 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("a clock")
        .as_nanos()
}

fn tell(line: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(line.as_bytes())
        .and_then(|()| out.flush())
        .expect("standard output is open");
}

impl Program {
    fn tell_if_reached(&self) {
        let wanted = self.wanted.load(SeqCst);
        if wanted != 0
            && self.last.load(SeqCst) >= wanted
            && self
                .wanted
                .compare_exchange(wanted, 0, SeqCst, SeqCst)
                .is_ok()
        {
            tell(&format!(
                "reached {} {}\n",
                self.events.load(SeqCst),
                now_ns()
            ));
        }
    }

    fn take(&self, pod: &Pod) {
        let text = pod.metadata.resource_version.as_deref().unwrap_or("0");
        let version = text.parse().unwrap_or(0);
        let number = self.events.load(SeqCst) as usize;
        let mut marks = self.marks.lock().expect("marks");
        if marks.len() < KEPT_MARKS {
            marks.push((version, now_ns()));
        } else {
            marks[number % KEPT_MARKS] = (version, now_ns());
        }
        drop(marks);
        self.last.store(version, SeqCst);
        self.events.store(number as u64 + 1, SeqCst);
        self.tell_if_reached();
    }

    fn obey(&self, line: &str, store: &Store<Pod>) {
        match line.split_once(' ').unwrap_or((line, "")) {
            ("until", version) => {
                self.wanted.store(version.parse().unwrap_or(0), SeqCst);
                self.tell_if_reached();
            }
            ("count", _) => tell(&format!("count {}\n", self.events.load(SeqCst))),
            ("marks", _) => {
                let marks = self.marks.lock().expect("marks");
                let lines = marks
                    .iter()
                    .map(|(version, ns)| format!("{version} {ns}\n"));
                tell(&(lines.collect::<String>() + "done\n"));
            }
            ("memory", _) => tell(&format!("memory {{\"objects\":{}}}\n", store.len())),
            _ => eprintln!("no such command: {line}"),
        }
    }
}

async fn connect(path: &str) -> Result<Client, Box<dyn std::error::Error>> {
    let file = Kubeconfig::read_from(path)?;
    let mut config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await?;
    config
        .headers
        .push(("user-agent".parse()?, "bench-kube-rs".parse()?));
    Ok(Client::try_from(config)?)
}

fn obey_in_thread(program: Arc<Program>, store: Store<Pod>) {
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            match line.as_deref() {
                Ok("quit") | Err(_) => break,
                Ok(line) => program.obey(line, &store),
            }
        }
        std::process::exit(0);
    });
}

/// Leaves what "five" of kinformer leaves: the identity, owners, two labels, node, phase, address.
fn keep_five(pod: &mut Pod) {
    let metadata = &mut pod.metadata;
    metadata.managed_fields = None;
    metadata.annotations = None;
    metadata.generate_name = None;
    metadata.finalizers = None;
    if let Some(labels) = &mut metadata.labels {
        labels.retain(|name, _| name == "app.kubernetes.io/name" || name == "pod-template-hash");
    }
    pod.spec = pod.spec.take().map(|spec| PodSpec {
        node_name: spec.node_name,
        ..PodSpec::default()
    });
    pod.status = pod.status.take().map(|status| PodStatus {
        phase: status.phase,
        pod_ip: status.pod_ip,
        ..PodStatus::default()
    });
}

async fn follow(program: Arc<Program>, client: Client, config: watcher::Config, five: bool) {
    let (store, writer) = reflector::store::<Pod>();
    let mut synced = false;
    let pods = Api::<Pod>::all(client);
    let mut events = watch(pods, config)
        .default_backoff()
        .modify(move |pod| {
            if five {
                keep_five(pod);
            }
        })
        .reflect(writer)
        .boxed();
    obey_in_thread(program.clone(), store.clone());
    while let Some(event) = events.next().await {
        match event {
            Ok(Event::Apply(pod) | Event::Delete(pod)) => program.take(&pod),
            Ok(Event::InitDone) if !synced => {
                synced = true;
                tell(&format!("synced {} {}\n", store.len(), now_ns()));
            }
            Ok(_) => {}
            Err(error) => eprintln!("{error}"),
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().collect();
    let word = |number: usize| words.get(number).map_or("", String::as_str);
    let mut config = watcher::Config::default();
    match (word(2), word(3)) {
        ("list" | "stream", "whole" | "five") => {}
        ("list" | "stream", "none") => config = config.fields("metadata.name=none"),
        _ => return Err("usage: kube-rs <kubeconfig> list|stream whole|five|none".into()),
    }
    if word(2) == "stream" {
        config = config.streaming_lists();
    }
    let client = connect(word(1)).await?;
    follow(Arc::default(), client, config, word(3) == "five").await;
    Ok(())
}
