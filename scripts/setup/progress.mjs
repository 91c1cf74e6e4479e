// @ts-check

/** @typedef {ReturnType<typeof openProgress>} Progress */

/**
 * Says what set-up does: one line that is rewritten on a terminal, and now and then a line elsewhere.
 *
 * @param {{ write(text: string): unknown, isTTY?: boolean | undefined }} stream
 * @param {{ now?: () => number, everyMs?: number }} options
 */
export function openProgress(stream, { now = Date.now, everyMs = 15_000 } = {}) {
  let step = ''
  let started = 0
  let shown = 0
  const seconds = () => Math.round((now() - started) / 1000)
  const line = (/** @type {string} */ text) => `gitstead: ${text}`
  const rewrite = (/** @type {string} */ text) => stream.write(`\r\x1b[K${line(text)}`)
  return {
    /** @param {string} what */
    start(what) {
      step = what
      started = now()
      shown = started
      if (stream.isTTY) rewrite(`${what} …`)
      else stream.write(`${line(`${what} …`)}\n`)
    },
    /** @param {string} detail such as '12 of 400 files' */
    tick(detail) {
      const pause = stream.isTTY ? 200 : everyMs
      if (now() - shown < pause) return
      shown = now()
      const text = [step, detail, `${seconds()} s`].filter(Boolean).join(', ')
      if (stream.isTTY) rewrite(text)
      else stream.write(`${line(text)}\n`)
    },
    done() {
      const text = `${step}: done in ${seconds()} s`
      if (stream.isTTY) rewrite(`${text}\n`)
      else stream.write(`${line(text)}\n`)
    },
    /** @param {string} text */
    note(text) {
      stream.write(`${stream.isTTY ? '\r\x1b[K' : ''}${line(text)}\n`)
    },
  }
}

/**
 * Runs a slow step under its name, with a sign of life every second.
 *
 * @template T
 * @param {Progress} say
 * @param {string} what
 * @param {(detail: (text: string) => void) => Promise<T>} work
 */
export async function step(say, what, work) {
  let detail = ''
  say.start(what)
  const timer = setInterval(() => say.tick(detail), 1000)
  try {
    const result = await work((text) => {
      detail = text
    })
    say.done()
    return result
  } finally {
    clearInterval(timer)
  }
}
