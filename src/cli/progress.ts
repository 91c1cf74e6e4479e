/** Where the signs of life of long work go: never standard output, which belongs to the answer. */
export interface Progress {
  /** Replaces what was said before. */
  say(text: string): void
  /** Clears the line, so that the answer starts on one of its own. */
  end(): void
}

export interface ProgressStream {
  readonly isTTY?: boolean | undefined
  write(text: string): unknown
}

/** One line that is rewritten on a terminal; elsewhere, such as in a log, a line every five seconds. */
export function openProgress(
  stream: ProgressStream,
  milliseconds: () => number = () => performance.now(),
): Progress {
  const pause = stream.isTTY ? 100 : 5000
  // What is over at once needs no sign of life.
  let last = stream.isTTY ? Number.NEGATIVE_INFINITY : milliseconds()
  let shown = false
  return {
    say(text) {
      if (milliseconds() - last < pause) return
      last = milliseconds()
      shown = true
      stream.write(stream.isTTY ? `\r\x1b[K${text}` : `${text}\n`)
    },
    end() {
      if (shown && stream.isTTY) stream.write('\r\x1b[K')
      shown = false
    },
  }
}
