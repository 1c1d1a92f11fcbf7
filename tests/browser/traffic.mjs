// What a kernel sends to a page, counted where it arrives: bytes of frames on the page's web sockets, by kind of message.

// In Jupyter's binary protocol a frame is a table of offsets, and between two of them the channel, the header, ….
function read(payload) {
  const raw = Buffer.isBuffer(payload) ? payload : Buffer.from(payload);
  try {
    const count = Number(raw.readBigUInt64LE(0));
    const at = (n) => Number(raw.readBigUInt64LE(8 * (n + 1)));
    if (count < 3 || count > 100) throw new Error("another protocol");
    const channel = raw.toString("utf8", at(0), at(1));
    return [channel, JSON.parse(raw.toString("utf8", at(1), at(2))).msg_type];
  } catch {
    const message = JSON.parse(raw.toString("utf8"));
    return [message.channel, message.header.msg_type];
  }
}

export function traffic(page) {
  let kinds = {};
  page.on("websocket", (socket) => socket.on("framereceived", ({ payload }) => {
    let channel = "", kind = "";
    try { [channel, kind] = read(payload); } catch { return; } // not a kernel's
    if (channel !== "iopub") return;
    const found = (kinds[kind] ||= { messages: 0, bytes: 0, largest: 0 });
    found.messages += 1;
    found.bytes += payload.length;
    found.largest = Math.max(found.largest, payload.length);
  }));
  const sum = (key) => Object.values(kinds).reduce((all, each) => all + each[key], 0);
  return {
    reset: () => { kinds = {}; },
    told: () => ({ bytes: sum("bytes"), messages: sum("messages"), kinds }),
  };
}
