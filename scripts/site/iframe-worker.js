// Runs the search of pages that are opened as files. Browsers start no workers there, so the worker's script runs in a hidden frame.
if (location.protocol === "file:")
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inside = frame.contentWindow;
      // The script answers by postMessage() of its own window.
      this.inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = frame.contentDocument.createElement("script");
      script.src = new URL(url, location.href).href;
      script.addEventListener("load", () => {
        const waiting = this.waiting;
        this.waiting = null;
        waiting.forEach(data => this.postMessage(data));
      });
      frame.contentDocument.body.append(script);
    }

    postMessage(data) {
      if (this.waiting)
        this.waiting.push(data);
      else
        this.inside.dispatchEvent(new MessageEvent("message", { data }));
    }

    terminate() {}
  };
