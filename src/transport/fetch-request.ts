import { type Packet, parsePackets } from './pkt-line.ts'

/** What a client asks of `git upload-pack`, as far as caching needs to know. */
export interface FetchRequest {
  readonly kind: 'ls-refs' | 'fetch' | 'other'
  /** The client has nothing and wants a pack now: equal requests get equal answers. */
  readonly fresh: boolean
  /** Only a part of the history or of the objects is wanted. */
  readonly partial: boolean
  /** Of `ls-refs`: what the names of the wanted refs begin with. */
  readonly prefixes: readonly string[]
  /** The request without what differs between clients but not between answers. */
  readonly cacheKey: Buffer
}

/** Reads a whole request of protocol 0, 1 or 2; throws `invalid` when it is malformed. */
export function readFetchRequest(body: Buffer, protocol: string | undefined): FetchRequest {
  const packets = parsePackets(body)
  const lines = packets.map(lineOf)
  const cacheKey = Buffer.from(`${protocol ?? ''}\n${lines.map(cachedLine).join('\n')}`, 'latin1')
  if (lines[0] === 'command=ls-refs') {
    return { kind: 'ls-refs', fresh: false, partial: false, prefixes: prefixesIn(lines), cacheKey }
  }
  const isFetch = lines[0] === 'command=fetch' || lines[0]?.startsWith('want ') === true
  return {
    kind: isFetch ? 'fetch' : 'other',
    fresh: isFetch && lines.includes('done') && !lines.some((line) => line.startsWith('have ')),
    prefixes: [],
    partial: lines.some((line) => line.startsWith('deepen') || line.startsWith('filter ')),
    cacheKey,
  }
}

/** All, where the client names none. */
function prefixesIn(lines: readonly string[]): string[] {
  const named = lines.flatMap((line) => /^ref-prefix (.*)$/.exec(line)?.slice(1) ?? [])
  return named.length > 0 ? named : ['']
}

function lineOf(packet: Packet): string {
  if (packet.kind !== 'data') return `<${packet.kind}>`
  return packet.bytes.toString('latin1').replace(/\n$/, '')
}

// The client's version and session do not change the answer.
function cachedLine(line: string): string {
  return line.replace(/(^| )(agent|session-id)=\S*/g, '')
}

/** The highest protocol version in a `Git-Protocol` header that we speak: `version=2:version=99` is 2. */
export function protocolVersion(header: string | undefined): 0 | 1 | 2 {
  let best: 0 | 1 | 2 = 0
  for (const part of (header ?? '').split(':')) {
    if (part === 'version=2') best = 2
    else if (part === 'version=1' && best === 0) best = 1
  }
  return best
}
