// SPDX-License-Identifier: Apache-2.0
// Keeps the page current: the server sends the part of the page that changes, already rendered and
// escaped, and differences are applied to the document: focus, selection and open parts stay.
"use strict";

const main = document.getElementById("main");
const connection = document.getElementById("connection");
const SILENT_MS = 10000; // updates come every two seconds
let source = null;
let lastUpdate = Date.now();

function show(text, level) {
  if (connection.textContent !== text) {
    connection.textContent = text;
  }
  connection.className = "pill " + level;
}

function setAttributes(node, next) {
  for (const { name } of [...node.attributes]) {
    if (!next.hasAttribute(name) && !(name === "open" && node.tagName === "DETAILS")) {
      node.removeAttribute(name);
    }
  }
  for (const { name, value } of next.attributes) {
    if (node.getAttribute(name) !== value && !(name === "value" && node.tagName === "INPUT")) {
      node.setAttribute(name, value);
    }
  }
}

function update(parent, nextParent) {
  const next = [...nextParent.childNodes];
  next.forEach((node, i) => {
    const old = parent.childNodes[i];
    if (old === undefined) {
      parent.append(node);
    } else if (old.nodeType !== node.nodeType || old.nodeName !== node.nodeName) {
      old.replaceWith(node);
    } else if (node.nodeType === Node.ELEMENT_NODE) {
      setAttributes(old, node);
      update(old, node);
    } else if (old.nodeValue !== node.nodeValue) {
      old.nodeValue = node.nodeValue;
    }
  });
  while (parent.childNodes.length > next.length) {
    parent.lastChild.remove();
  }
}

function connect() {
  if (source !== null) {
    source.close();
  }
  source = new EventSource("/debug/events?page=" +
    encodeURIComponent(location.pathname + location.search));
  source.addEventListener("page", (event) => {
    lastUpdate = Date.now();
    const template = document.createElement("template");
    template.innerHTML = event.data + "\n";
    update(main, template.content);
    show("live", "ok");
  });
  source.addEventListener("moved", () => location.replace(location.pathname));
  source.addEventListener("error", () => {
    show("disconnected from the program", "bad");
    if (source.readyState === EventSource.CLOSED) {
      setTimeout(connect, 2000);
    }
  });
}

// A hidden page needs no updates, and browsers allow few connections to one server.
document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    source.close();
  } else {
    lastUpdate = Date.now();
    connect();
  }
});

function filterBy(text) {
  const query = text === "" ? "" : "?filter=" + encodeURIComponent(text);
  history.replaceState(null, "", location.pathname + query);
  connect();
}

let pending = 0;
document.addEventListener("input", (event) => {
  if (event.target.id === "filter") {
    clearTimeout(pending);
    pending = setTimeout(() => filterBy(event.target.value), 250);
  }
});

setInterval(() => {
  const silent = Date.now() - lastUpdate;
  if (silent > SILENT_MS && !document.hidden) {
    show("no update for " + Math.round(silent / 1000) + " s", "bad");
  }
}, 1000);

connect();
