// A notebook in JupyterLab in a real browser, and what a test may do with it.
//
//   import { open } from "./page.mjs";
//   const lab = await open();                    // the notebook that whoever started this named: see lab.py
//   await lab.drive(async () => {
//     await lab.run(0); await lab.ended(0);
//     lab.seen.text = await lab.output(0);       // `seen` is printed as JSON when the steps are over
//   });
import { chromium } from "playwright-core";
import { readFileSync } from "fs";
import path from "path";
import { fileURLToPath } from "url";
import { launch } from "./browser.mjs";
import { traffic } from "./traffic.mjs";

const AXE = path.join(path.dirname(fileURLToPath(import.meta.url)), "node_modules", "axe-core", "axe.min.js");
const THEMES = { light: "JupyterLab Light", dark: "JupyterLab Dark", contrast: "JupyterLab Dark High Contrast" };
const PATIENCE = 120000; // ms that anything may take, on a machine that has much else to do

// Arguments: address of JupyterLab, notebook, folder for screenshots, and as JSON what the test wants its script to know.
// HERMES_BROWSER is the address of a browser that is there already; without it one is started.
export async function open(base = process.argv[2], notebook = process.argv[3], shots = process.argv[4]) {
  const given = JSON.parse(process.argv[5] || "{}");
  const shared = process.env.HERMES_BROWSER;
  const browser = shared ? await chromium.connectOverCDP(shared) : await launch();
  const context = browser.contexts()[0] || (await browser.newContext());
  const page = await context.newPage();
  await page.setViewportSize({ width: 1100, height: 820 });
  page.setDefaultTimeout(PATIENCE);

  const seen = { remote: [] };
  const harm = { dialogs: [], popups: [], navigated: [], errors: [] };
  await page.addInitScript(() => { window.hacked = []; window.canary = (what) => { window.hacked.push(what); }; });
  // A stock kernel of ipykernel 7.3 may leave unread what a page sends: one that connects anew is heard (ipython/ipykernel#1554).
  await page.addInitScript(() => {
    window.heard = async (kernel, ask) => {
      for (let tries = 4; ; tries--) {
        const heard = ask().then(() => true, () => false);
        if (await Promise.race([heard, new Promise((done) => setTimeout(done, 5000))])) return;
        if (!tries) throw new Error("the kernel does not hear this page");
        await kernel.reconnect();
      }
    };
  });
  await page.route((url) => url.protocol.startsWith("http") && !url.href.startsWith(base), (route) => route.abort());
  page.on("request", (request) => {
    if (!request.url().startsWith(base) && /^(https?|wss?|ftp|file):/.test(request.url())) seen.remote.push(request.url().slice(0, 200));
  });
  page.on("dialog", (dialog) => {
    if (dialog.type() !== "beforeunload") harm.dialogs.push(`${dialog.type()}: ${dialog.message().slice(0, 100)}`);
    dialog.accept().catch(() => {});
  });
  page.on("popup", (popup) => harm.popups.push(popup.url()));
  page.on("framenavigated", (frame) => {
    if (!frame.url().startsWith(`${base}/lab`) && frame.url() !== "about:blank") harm.navigated.push(frame.url().slice(0, 200));
  });
  page.on("pageerror", (error) => harm.errors.push(String(error).slice(0, 300)));
  const iopub = traffic(page);

  // --- cells; `cell` is a number from 0

  const run = (cell) => page.evaluate((cell) => {
    const panel = window.jupyterapp.shell.currentWidget;
    panel.content.activeCellIndex = cell;
    panel.content.deselectAll();
    window.jupyterapp.commands.execute("notebook:run-cell");
  }, cell);
  const ended = (cell, timeout = PATIENCE) => page.waitForFunction((cell) => {
    const panel = window.jupyterapp.shell.currentWidget;
    const prompt = panel.content.widgets[cell].node.querySelector(".jp-InputPrompt").textContent;
    return /\[\d+\]/.test(prompt) && panel.sessionContext.session.kernel.status === "idle";
  }, cell, { timeout });
  const all = async (...cells) => { for (const cell of cells) { await run(cell); await ended(cell); } };
  const output = (cell) => page.evaluate((cell) =>
    window.jupyterapp.shell.currentWidget.content.widgets[cell].outputArea.node.innerText, cell);
  const shows = (cell, words, timeout = PATIENCE) => page.waitForFunction(([cell, words]) =>
    window.jupyterapp.shell.currentWidget.content.widgets[cell].outputArea.node.innerText.includes(words),
    [cell, words], { timeout });
  // Waits until what a cell shows is drawn: no widget is on its way, and for `quiet` ms nothing has changed.
  const settled = (cell, quiet = 300, most = 15000) => page.evaluate(async ([cell, quiet, most]) => {
    const node = window.jupyterapp.shell.currentWidget.content.widgets[cell].outputArea.node;
    const began = performance.now();
    for (let [last, since] = ["", began]; performance.now() - began < most;) {
      if (node.innerHTML !== last) [last, since] = [node.innerHTML, performance.now()];
      if (performance.now() - since > quiet && !last.includes("Loading widget")) return;
      await new Promise((done) => setTimeout(done, 50));
    }
  }, [cell, quiet, most]);
  // The output of a cell as a locator: `lab.area(2).getByRole("button", { name: "Stop" })`.
  const area = (cell) => page.locator(".jp-Notebook .jp-Cell").nth(cell).locator(".jp-Cell-outputArea");
  const html = (cell) => page.evaluate((cell) =>
    window.jupyterapp.shell.currentWidget.content.widgets[cell].outputArea.node.innerHTML, cell);
  // Whether a cell is at work. What the page takes for the kernel's status tells of any message, such as a widget's.
  const running = (cell) => page.evaluate((cell) => window.jupyterapp.shell.currentWidget.content.widgets[cell].node
    .querySelector(".jp-InputPrompt").textContent.includes("*"), cell);
  const kernel = () => page.evaluate(() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.status);
  const unfold = (cell) => page.evaluate((cell) => window.jupyterapp.shell.currentWidget.content.widgets[cell]
    .outputArea.node.querySelectorAll("details").forEach((each) => { each.open = true; }), cell);
  // Waits until the kernel takes code again: what is asked for while a cell that was stopped fails is aborted with it.
  const free = () => page.evaluate(async () => {
    const { kernel } = window.jupyterapp.shell.currentWidget.sessionContext.session;
    for (let status; status !== "ok";)
      status = (await kernel.requestExecute({ code: "", silent: true, store_history: false }).done).content.status;
  });
  // A new cell with this code at the end, run.
  const code = async (source) => {
    const cell = await page.evaluate((source) => {
      const notebook = window.jupyterapp.shell.currentWidget.content;
      notebook.model.sharedModel.insertCell(notebook.widgets.length, { cell_type: "code", source, metadata: {} });
      return notebook.widgets.length - 1;
    }, source);
    await run(cell);
    await ended(cell);
    return output(cell);
  };

  // --- the page

  // Up to the first word of its first cell, whose `%load_ext magics` has a stock kernel read all.
  const heedFirst = () => page.evaluate(() => {
    const { kernel } = window.jupyterapp.shell.currentWidget.sessionContext.session;
    if (!kernel.name.includes("python3")) return;
    const once = (wanted) => new Promise((done) => {
      const hear = (_, { msg, direction }) => { if (wanted(msg, direction)) { kernel.anyMessage.disconnect(hear); done(); } };
      kernel.anyMessage.connect(hear);
    });
    const word = once((msg, direction) => direction === "recv" && msg.parent_header.msg_type === "execute_request");
    once((msg, direction) => direction === "send" && msg.header.msg_type === "execute_request")
      .then(() => window.heard(kernel, () => word)).catch(() => {}); // whoever waits for the cell says so
  });
  // Loads the notebook and waits for its kernel: connected, and idle or busy with what it was at before.
  async function load() {
    await page.goto(`${base}/lab/tree/${notebook}?reset`, { waitUntil: "domcontentloaded" });
    await page.waitForSelector(".jp-Notebook .jp-Cell", { timeout: PATIENCE });
    await page.evaluate(async (patience) => {
      const panel = window.jupyterapp.shell.currentWidget;
      await panel.revealed;
      await panel.sessionContext.ready;
      const began = Date.now();
      for (;;) {
        const kernel = panel.sessionContext.session?.kernel;
        if (["idle", "busy"].includes(kernel?.status) && kernel.connectionStatus === "connected") break;
        if (Date.now() - began > patience) throw new Error(`no kernel within ${patience / 1000} s: it is ${kernel?.status}, ${kernel?.connectionStatus}`);
        await new Promise((done) => setTimeout(done, 100));
      }
      const kernel = panel.sessionContext.session.kernel;
      if (kernel.status === "idle") await window.heard(kernel, () => kernel.requestKernelInfo());
      await window.jupyterapp.commands.execute("application:toggle-left-area", { side: "left" }).catch(() => {});
      if (!window.jupyterapp.shell.leftCollapsed) window.jupyterapp.shell.collapseLeft();
    }, PATIENCE);
  }
  const save = () => page.evaluate(() => window.jupyterapp.commands.execute("docmanager:save"));
  // As a person who presses F5: the kernel goes on with what it is at.
  const reload = async (cell = 0) => { await save(); await load(); await at(cell); };
  // The cell is where it is seen: the page makes no output of those that are not.
  const at = (cell) => page.evaluate(async (cell) => {
    const notebook = window.jupyterapp.shell.currentWidget.content;
    notebook.activeCellIndex = cell;
    await notebook.scrollToItem(cell, "start");
    await notebook.widgets[cell].ready;
  }, cell);
  // What JupyterLab calls `trusted`: HTML and scripts of outputs may do what they can.
  const trust = () => page.evaluate(() => {
    for (const cell of window.jupyterapp.shell.currentWidget.content.widgets) cell.model.trusted = true;
  });
  const theme = (name) => page.evaluate(async (theme) => {
    await window.jupyterapp.commands.execute("apputils:change-theme", { theme });
    for (let n = 0; n < 100 && document.body.dataset.jpThemeName !== theme; n++) await new Promise((done) => setTimeout(done, 50));
    await new Promise((done) => setTimeout(done, 200)); // style sheets of a theme come after its name
  }, THEMES[name]);
  const width = (px, height = 820) => page.setViewportSize({ width: px, height });
  const shot = (name) => page.screenshot({ path: path.join(shots, name.endsWith(".png") ? name : `${name}.png`) });
  // The whole output of a cell; what is too tall for a picture, as far as the page shows it.
  const portrait = async (cell, name) => {
    await area(cell).scrollIntoViewIfNeeded();
    if ((await area(cell).boundingBox()).height > 8000) return shot(name);
    await area(cell).screenshot({ path: path.join(shots, `${name}.png`) });
  };

  // --- the keyboard

  // Presses these keys, one after the other: keys("Tab", "Tab", "Enter").
  const keys = async (...names) => { for (const name of names) await page.keyboard.press(name); };
  // Presses Tab until what has the focus is called `words`; how often, or an error after 60.
  const tabTo = async (words) => {
    for (let n = 0; n < 60; n++) {
      const at = await page.evaluate(() => {
        const it = document.activeElement;
        return it && it.matches("button, input, select, textarea, a, summary, [role]") ? [it.innerText, it.getAttribute("aria-label"), it.title, it.placeholder].map((each) => (each || "").trim()) : [];
      });
      if (at.includes(words)) return n;
      await page.keyboard.press("Tab");
    }
    throw new Error(`Tab never comes to ${words}`);
  };
  // The focus on the output of a cell, as a person has it who has just run the cell and goes on by Tab.
  const focus = (cell) => page.evaluate((cell) => {
    const node = window.jupyterapp.shell.currentWidget.content.widgets[cell].outputArea.node;
    node.tabIndex = -1;
    node.focus();
  }, cell);

  // --- what is looked at

  // Findings of axe-core on one node that are serious or critical.
  async function axe(selector) {
    if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(readFileSync(AXE, "utf8"));
    return page.evaluate(async (selector) => {
      const { violations } = await window.axe.run(selector, { resultTypes: ["violations"] });
      return violations.filter((each) => ["serious", "critical"].includes(each.impact)).flatMap((each) =>
        each.nodes.map((node) => `${each.impact} ${each.id}: ${node.html.slice(0, 160)} | ${node.failureSummary.replace(/\s+/g, " ").slice(0, 240)}`));
    }, selector);
  }
  // The same on the output of one cell.
  const axeOf = async (cell) => {
    await page.evaluate((cell) => window.jupyterapp.shell.currentWidget.content.widgets[cell]
      .outputArea.node.setAttribute("data-axed", "yes"), cell);
    const found = await axe("[data-axed]");
    await page.evaluate(() => document.querySelector("[data-axed]").removeAttribute("data-axed"));
    return found;
  };
  // What sticks out of the output of a cell on its right, or makes it scroll sideways. Code and tables may scroll in a frame of their own.
  const overflow = (cell) => page.evaluate((cell) => {
    const area = window.jupyterapp.shell.currentWidget.content.widgets[cell].outputArea.node;
    const right = area.getBoundingClientRect().right + 1;
    const told = (each, by) => `${each.tagName.toLowerCase()}.${String(each.className).slice(0, 60)} +${Math.round(by)} px: ${each.textContent.slice(0, 60)}`;
    const framed = (each) => {
      for (let up = each.parentElement; up && up !== area; up = up.parentElement)
        if (["auto", "scroll", "hidden", "clip"].includes(getComputedStyle(up).overflowX) && (up.matches("pre, code, .hermes-page, :has(> table)"))) return true;
      return false;
    };
    const found = [];
    for (const each of area.querySelectorAll("*")) {
      const box = each.getBoundingClientRect();
      if (box.width && box.right > right && !framed(each)) found.push(told(each, box.right - right + 1));
      const style = getComputedStyle(each);
      if (["auto", "scroll"].includes(style.overflowX) && each.scrollWidth > each.clientWidth + 1 && !each.matches("pre, code, select, textarea, input, :has(> table)"))
        found.push(`scrolls: ${told(each, each.scrollWidth - each.clientWidth)}`);
    }
    return found.slice(0, 8);
  }, cell);
  // Words at the head of a column, and figures below it, that are broken in two by the end of a line.
  const broken = (cell) => page.evaluate((cell) => {
    const area = window.jupyterapp.shell.currentWidget.content.widgets[cell].outputArea.node;
    const found = [];
    for (const each of area.querySelectorAll("thead th, td")) {
      if (each.matches("td") && !/^[\d.,]+$/.test(each.textContent)) continue;
      const walk = document.createTreeWalker(each, NodeFilter.SHOW_TEXT);
      while (walk.nextNode()) for (const { 0: word, index } of walk.currentNode.data.matchAll(/[\w.,]+/g)) {
        const range = document.createRange();
        range.setStart(walk.currentNode, index);
        range.setEnd(walk.currentNode, index + word.length);
        if (range.getClientRects().length > 1) found.push(word);
      }
    }
    return found;
  }, cell);
  // Words in pictures that are painted in another colour than the page's own, as a person has chosen it for all pages.
  const unforced = async (cell) => {
    await page.emulateMedia({ forcedColors: "active", colorScheme: "dark" });
    const found = await page.evaluate((cell) => {
      const area = window.jupyterapp.shell.currentWidget.content.widgets[cell].outputArea.node;
      const [red, green, blue] = getComputedStyle(area).color.match(/[\d.]+/g);
      return [...area.querySelectorAll("svg text")].map((each) => [each.textContent, getComputedStyle(each).fill])
        .filter(([, fill]) => !fill.includes(`(${red}, ${green}, ${blue}`));
    }, cell);
    await page.emulateMedia({ forcedColors: "none", colorScheme: "light" });
    return found;
  };
  // What hostile text would have done: {hacked, dialogs, popups, navigated, errors, remote}.
  const canary = async () => ({
    ...harm, hacked: await page.evaluate(() => window.hacked), remote: seen.remote, address: page.url(),
  });

  // What stands in outputs that must not: whatever runs, loads, sends, covers the page, or leads elsewhere than to the web.
  // Of ours are style sheets of widgets. Pictures are inline. JupyterLab makes links of addresses in plain text.
  const unsafe = () => page.evaluate(() => {
    const found = [];
    // What a panel's document says of the output below it, and nothing else.
    const HIDES = /^\.jp-OutputArea-child:has\(\.hermes-of-[0-9a-f]{32}\)\+\.jp-OutputArea-child:not\(:has\(\.hermes-panel\)\)\{display:none\}$/;
    const barred = "script, iframe, object, embed, link, meta, base, form, foreignObject, portal, frame, applet, video, audio, template";
    for (const area of document.querySelectorAll(".jp-Cell-outputArea")) for (const each of area.querySelectorAll("*")) {
      const told = each.outerHTML.slice(0, 160);
      if (each.matches(barred)) found.push(`element ${told}`);
      if (each.matches("style") && !each.closest(".hermes-panel") && !HIDES.test(each.textContent)) found.push(`style ${told}`);
      if (each.matches("img, image, use, source") && /^(?!data:image\/|#)./.test(each.getAttribute("src") || each.getAttribute("href") || "")) found.push(`loads ${told}`);
      for (const { name, value } of each.attributes) {
        if (name.startsWith("on")) found.push(`handler ${told}`);
        if (["href", "xlink:href", "action", "formaction"].includes(name) && !each.closest(".jp-RenderedText") && !/^(https?:|mailto:|#)/i.test(value.trim())) found.push(`link ${told}`);
        if (name === "style" && /url\(|expression/i.test(value)) found.push(`styled ${told}`);
      }
      if (["fixed", "sticky"].includes(getComputedStyle(each).position)) found.push(`position ${told}`);
    }
    return [...new Set(found)].slice(0, 10);
  });
  // Opens whatever a panel has: each `select` is gone through by the arrow key, a few options of it.
  async function walk(cell, most = 8) {
    const lists = area(cell).locator("select[size], select[multiple]");
    for (let n = 0; n < await lists.count(); n++) {
      const many = Math.min(await lists.nth(n).locator("option").count(), most);
      await lists.nth(n).focus();
      for (let option = 0; option < many; option++) {
        await page.keyboard.press(option ? "ArrowDown" : "Home");
        await page.waitForTimeout(150);
      }
    }
    await unfold(cell);
  }

  // --- over time

  // From now on, every text that the first element of `selector` has: transcript(name) gives [[ms, text], …].
  const watch = (name, selector) => page.evaluate(([name, selector]) => {
    const began = performance.now();
    const said = [];
    const look = () => {
      const node = document.querySelector(selector);
      const text = node ? node.textContent.replace(/\s+/g, " ").trim() : "";
      if (!said.length || said[said.length - 1][1] !== text) said.push([Math.round(performance.now() - began), text]);
    };
    const eye = new MutationObserver(look);
    eye.observe(document.body, { childList: true, subtree: true, characterData: true });
    (window.eyes ||= {})[name] = { eye, said };
    look();
  }, [name, selector]);
  const transcript = (name) => page.evaluate((name) => window.eyes[name].said, name);
  // Keeps waiting whatever the page asks for at such an address; what is given back lets it through and says how much it was.
  async function held(addresses) {
    const waiting = [];
    const hold = (route) => { waiting.push(route); };
    await page.route(addresses, hold);
    return async () => {
      await page.unroute(addresses, hold);
      await Promise.all(waiting.map((route) => route.continue()));
      await page.evaluate(() => document.fonts.ready.then(() => null));
      return waiting.length;
    };
  }
  // The place of the first element of `selector` within its cell's output, ten times a second: steadiness(name) gives
  // {moves, places}: how often it was elsewhere than before, and where.
  const follow = (name, selector) => page.evaluate(([name, selector]) => {
    const places = [];
    const look = () => {
      const node = document.querySelector(selector);
      if (!node) return;
      const [box, area] = [node, node.closest(".jp-Cell-outputArea")].map((each) => each.getBoundingClientRect());
      const place = [Math.round(box.left - area.left), Math.round(box.top - area.top)];
      if (!places.length || String(places[places.length - 1]) !== String(place)) places.push(place);
    };
    (window.follows ||= {})[name] = { places, timer: setInterval(look, 100) };
  }, [name, selector]);
  const steadiness = (name) => page.evaluate((name) => {
    const { places, timer } = window.follows[name];
    clearInterval(timer);
    return { moves: Math.max(places.length - 1, 0), places };
  }, name);
  // Milliseconds from `times` clicks on a plain button to its handler, while the page is at whatever it is at.
  async function latency(times = 20, every = 100) {
    const at = await page.evaluate(() => {
      const button = document.createElement("button");
      button.textContent = "click";
      button.style.cssText = "position:fixed;right:4px;bottom:4px;z-index:99999";
      window.clicked = [];
      button.addEventListener("click", (event) => {
        event.stopPropagation();
        window.clicked.push(Math.round(performance.now() - event.timeStamp));
      });
      document.body.append(button);
      window.clicking = button;
      const box = button.getBoundingClientRect();
      return [box.left + box.width / 2, box.top + box.height / 2];
    });
    for (let n = 0; n < times; n++) {
      await page.mouse.click(...at);
      await page.waitForTimeout(every);
    }
    return page.evaluate(() => { window.clicking.remove(); return window.clicked; });
  }
  // Milliseconds from a click on `button`, a locator, to the kernel being idle and the cell having its number.
  async function pressed(button, cell) {
    await button.waitFor();
    const began = Date.now();
    await button.click();
    await ended(cell);
    return Date.now() - began;
  }

  // Runs `steps` on the loaded notebook and prints what was `seen`; what went wrong is a part of it.
  async function drive(steps) {
    try {
      await load();
      await heedFirst();
      await steps();
    } catch (error) {
      seen.error = String(error.stack || error).slice(0, 1200);
      seen.cells = await page.evaluate(() => window.jupyterapp.shell.currentWidget.content.widgets
        .map((each) => each.node.querySelector(".jp-InputPrompt")?.textContent)).catch(() => []);
      seen.kernel = await kernel().catch(() => "gone");
      seen.outputs = await page.evaluate(() => window.jupyterapp.shell.currentWidget.content.widgets
        .map((each) => each.outputArea ? each.outputArea.node.innerText.slice(0, 1500) : "")).catch(() => []);
      await shot("failed.png").catch(() => {});
    }
    await page.evaluate(() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()).catch(() => {});
    await page.close();
    await browser.close(); // of one that was there already: leave it
    console.log(JSON.stringify(seen));
  }

  return {
    page, context, browser, seen, given, shots, run, ended, all, output, html, shows, settled, area, unfold, free, code, running, kernel, load, save, reload, at, trust,
    theme, width, shot, portrait, keys, tabTo, focus, axe, axeOf, overflow, broken, unforced, canary, unsafe, walk, watch, transcript, held, follow, steadiness,
    latency, pressed, iopub, drive,
  };
}
