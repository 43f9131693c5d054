// The search of the site runs in a worker. Browsers start no workers for pages that were opened as files, so this script runs
// the code of a worker in a hidden frame there. Pages that come from a server use the browser's workers.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inner = frame.contentWindow;
      inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inner.importScripts = (...urls) => {
        urls.forEach((each) => load(each));
      };
      const load = (each) =>
        new Promise((resolve, reject) => {
          const script = inner.document.createElement("script");
          script.src = each;
          script.onload = resolve;
          script.onerror = reject;
          inner.document.body.append(script);
        });
      this.inner = inner;
      this.loaded = load(new URL(url, location.href).href);
    }

    postMessage(data) {
      this.loaded.then(() => this.inner.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      this.inner.frameElement.remove();
    }
  };
}
