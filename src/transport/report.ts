import { Band, bandPackets, flushPacket, PacketReader, packet, type SideBand } from './pkt-line.ts'

/** What became of one ref of a push, as the client gets it: `null` means it moved. */
export interface RefOutcome {
  readonly name: string
  readonly refusal: string | null
}

/** The side band that a client asked for, if any. */
function sideBandOf(capabilities: ReadonlySet<string>): SideBand | undefined {
  if (capabilities.has('side-band-64k')) return 'side-band-64k'
  return capabilities.has('side-band') ? 'side-band' : undefined
}

/** Whether the client reads a report on each ref at all. */
export function wantsReport(capabilities: ReadonlySet<string>): boolean {
  return capabilities.has('report-status') || capabilities.has('report-status-v2')
}

/**
 * A whole answer to a push that `git receive-pack` has no part in: the messages the user reads after `remote:`,
 * then the report on each ref (gitprotocol-pack, report-status).
 */
export function wholeAnswer(
  capabilities: ReadonlySet<string>,
  messages: readonly string[],
  outcomes: readonly RefOutcome[],
): Buffer {
  const report = wantsReport(capabilities) ? reportStatus(outcomes) : Buffer.alloc(0)
  return withMessages(messages, report, sideBandOf(capabilities))
}

/** A report behind `messages`, which are lines after `remote:`, and the mark that closes the side band. */
function withMessages(
  messages: readonly string[],
  report: Buffer,
  band: SideBand | undefined,
): Buffer {
  if (band === undefined) return report
  const lines = Buffer.from(messages.length === 0 ? '' : `${messages.join('\n')}\n`, 'utf8')
  return Buffer.concat([
    bandPackets(Band.progress, lines, band),
    bandPackets(Band.data, report, band),
    flushPacket,
  ])
}

function reportStatus(outcomes: readonly RefOutcome[]): Buffer {
  const lines = outcomes.map(({ name, refusal }) =>
    packet(refusal === null ? `ok ${name}\n` : `ng ${name} ${refusal}\n`),
  )
  return Buffer.concat([packet('unpack ok\n'), ...lines, flushPacket])
}

/** Reads git's own report: which refs moved, in the form of version 1 or 2. */
export function parseReport(report: Buffer): RefOutcome[] {
  const reader = new PacketReader()
  reader.push(report)
  const outcomes: RefOutcome[] = []
  for (let next = reader.next(); next; next = reader.next()) {
    if (next.kind !== 'data') continue
    const line = next.bytes.toString('utf8').replace(/\n$/, '')
    if (line.startsWith('ok ')) outcomes.push({ name: line.slice(3), refusal: null })
    if (line.startsWith('ng ')) {
      const space = line.indexOf(' ', 3)
      outcomes.push({ name: line.slice(3, space), refusal: line.slice(space + 1) })
    }
  }
  return outcomes
}

/**
 * Splits the output of receive-pack: progress goes on at once, the report is kept back until the
 * database knows what moved, so that a client never gets more than what lasts.
 */
export class PushOutput {
  readonly #band: SideBand | undefined
  readonly #reader = new PacketReader()
  readonly #report: Buffer[] = []

  constructor(capabilities: ReadonlySet<string>) {
    this.#band = sideBandOf(capabilities)
  }

  /** Takes a piece of git's output and gives what may go to the client now. */
  take(chunk: Buffer): Buffer {
    if (this.#band === undefined) {
      this.#report.push(chunk)
      return Buffer.alloc(0)
    }
    this.#reader.push(chunk)
    const passed: Buffer[] = []
    for (let next = this.#reader.next(); next; next = this.#reader.next()) {
      if (next.kind !== 'data') continue
      if (next.bytes[0] === Band.data) this.#report.push(next.bytes.subarray(1))
      else passed.push(packet(next.bytes))
    }
    return Buffer.concat(passed)
  }

  /** Whether git says that it has taken the pack in. */
  get isUnpacked(): boolean {
    return Buffer.concat(this.#report).includes('unpack ok\n')
  }

  outcomes(): RefOutcome[] {
    return parseReport(Buffer.concat(this.#report))
  }

  /** The end of the answer: our messages, git's report, and the mark that closes the side band. */
  finish(messages: readonly string[]): Buffer {
    return withMessages(messages, Buffer.concat(this.#report), this.#band)
  }
}
