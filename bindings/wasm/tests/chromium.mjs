// Drives a headless Chromium by its DevTools protocol, over pipes.
// SPDX-License-Identifier: MIT
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export async function launch(program = 'chromium') {
  const profile = mkdtempSync(join(tmpdir(), 'lanebloom-chromium-'));
  const browser = spawn(
    program,
    [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-dev-shm-usage',
      '--hide-scrollbars',
      '--remote-debugging-pipe',
      `--user-data-dir=${profile}`,
      'about:blank',
    ],
    { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] },
  );
  const waiting = new Map();
  const listeners = [];
  let last = 0;
  let rest = '';
  browser.stdio[4].setEncoding('utf8').on('data', (text) => {
    const messages = (rest + text).split('\0');
    rest = messages.pop();
    for (const message of messages.map((each) => JSON.parse(each))) {
      const { resolve, reject } = waiting.get(message.id) ?? {};
      waiting.delete(message.id);
      if (message.error) reject(new Error(message.error.message));
      else if (resolve) resolve(message.result);
      else for (const listener of listeners) listener(message);
    }
  });
  const ended = new Promise((resolve) => browser.on('exit', resolve));
  ended.then(() => {
    for (const { reject } of waiting.values()) reject(new Error('Chromium ended'));
  });

  const send = (method, params = {}, sessionId = undefined) =>
    new Promise((resolve, reject) => {
      waiting.set(++last, { resolve, reject });
      browser.stdio[3].write(JSON.stringify({ id: last, method, params, sessionId }) + '\0');
    });

  /** Opens a page. `requests` becomes the addresses that it asks for. */
  async function open(url, { width = 1300, height = 1000, scheme = 'light' } = {}) {
    const { targetId } = await send('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true });
    const call = (method, params) => send(method, params, sessionId);
    const requests = [];
    const problems = [];
    const waits = new Map();
    listeners.push((message) => {
      if (message.sessionId !== sessionId) return;
      const { method, params } = message;
      if (method === 'Network.requestWillBeSent') requests.push(params.request.url);
      if (method === 'Runtime.exceptionThrown')
        problems.push(
          params.exceptionDetails.exception?.description ?? params.exceptionDetails.text,
        );
      if (method === 'Log.entryAdded' && params.entry.level === 'error')
        problems.push(params.entry.text);
      waits.get(method)?.(params);
    });
    for (const domain of ['Page', 'Runtime', 'Network', 'Log', 'DOM'])
      await call(`${domain}.enable`);
    await call('Emulation.setDeviceMetricsOverride', {
      width,
      height,
      deviceScaleFactor: 1,
      mobile: width < 600,
    });
    await call('Emulation.setEmulatedMedia', {
      features: [{ name: 'prefers-color-scheme', value: scheme }],
    });
    const loaded = new Promise((resolve) => waits.set('Page.loadEventFired', resolve));
    await call('Page.navigate', { url });
    await loaded;

    async function evaluate(expression) {
      const { result, exceptionDetails } = await call('Runtime.evaluate', {
        expression,
        awaitPromise: true,
        returnByValue: true,
      });
      if (exceptionDetails)
        throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
      return result.value;
    }
    /** Waits until the expression is true, which is checked at each change of the page. */
    const until = (expression) =>
      evaluate(`new Promise((resolve) => {
        const check = () => (${expression}) && (observer.disconnect(), resolve(true));
        const observer = new MutationObserver(check);
        const changes = { childList: true, characterData: true, attributes: true };
        observer.observe(document, { subtree: true, ...changes });
        check();
      })`);
    async function choose(selector, ...files) {
      const { root } = await call('DOM.getDocument');
      const { nodeId } = await call('DOM.querySelector', { nodeId: root.nodeId, selector });
      await call('DOM.setFileInputFiles', { nodeId, files });
    }
    async function picture() {
      const { data } = await call('Page.captureScreenshot', { captureBeyondViewport: true });
      return Buffer.from(data, 'base64');
    }
    /** Runs an action that saves a file, and waits until the file is in the folder. */
    async function download(folder, action) {
      const done = new Promise((resolve) => {
        listeners.push(({ method, params }) => {
          if (method === 'Browser.downloadProgress' && params.state !== 'inProgress')
            resolve(params.state);
        });
      });
      let name;
      listeners.push(({ method, params }) => {
        if (method === 'Browser.downloadWillBegin') name = params.suggestedFilename;
      });
      await send('Browser.setDownloadBehavior', {
        behavior: 'allow',
        downloadPath: folder,
        eventsEnabled: true,
      });
      await evaluate(action);
      if ((await done) !== 'completed') throw new Error('the download was cancelled');
      return join(folder, name);
    }
    return { call, evaluate, until, choose, picture, download, requests, problems };
  }

  async function close() {
    send('Browser.close').catch(() => {});
    await ended;
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
  return { open, close };
}
