import type { Readable } from 'node:stream'
import { GitError } from '../git/error.ts'
import type { RefMove } from '../repositories/refs/moves.ts'
import { BodyLimit } from './body-limit.ts'
import { type Packet, PacketReader } from './pkt-line.ts'

/** What a client asks of `git receive-pack`, ahead of its pack. */
export interface PushRequest {
  readonly commands: readonly RefMove[]
  readonly capabilities: ReadonlySet<string>
  readonly options: readonly string[]
  /** The client lacks a part of the history. */
  readonly shallow: boolean
  /** The bytes read so far, to be handed on unchanged; the pack follows in the stream. */
  readonly head: Buffer
}

// Enough for a mirror push of 100,000 refs.
const maxHead = 16 * 1024 * 1024
const maxOptions = 1000
const commandForm = /^([0-9a-f]{40}|[0-9a-f]{64}) ([0-9a-f]{40}|[0-9a-f]{64}) (.+)$/s
const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Reads the commands and push options from the beginning of a push, so that rules about who and
 * which ref are applied before any process starts. Leaves the stream paused at the pack.
 */
export async function readPushRequest(input: Readable): Promise<PushRequest> {
  const parser = new RequestParser()
  const reader = new PacketReader()
  const chunks: Buffer[] = []
  let size = 0
  for (;;) {
    const chunk = await nextChunk(input)
    if (chunk === null) throw new GitError('invalid', 'the push ends within its commands')
    size += chunk.length
    chunks.push(chunk)
    reader.push(chunk)
    if (parser.takeAll(reader)) break
    if (size > maxHead) throw new GitError('too_large', 'too many ref updates in one push')
  }
  const rest = reader.rest()
  if (rest.length > 0) input.unshift(rest)
  return parser.request(Buffer.concat(chunks).subarray(0, size - rest.length))
}

/**
 * Waits for the first bytes of the pack. A client counts and compresses before it sends, for minutes when there is much;
 * what waits here holds nothing but its connection. `longest` is in milliseconds, 0 without limit.
 */
export async function waitForPack(input: Readable, longest: number): Promise<void> {
  if (input.readableLength > 0) return
  if (input instanceof BodyLimit) input.allowSilence(longest || Number.POSITIVE_INFINITY)
  const chunk = await nextChunk(input)
  if (chunk) input.unshift(chunk)
}

/** The next piece of a paused stream, or null at its end. */
async function nextChunk(input: Readable): Promise<Buffer | null> {
  for (;;) {
    const chunk: Buffer | null = input.read()
    if (chunk !== null) return chunk
    if (input.readableEnded) return null
    if (input.destroyed) throw input.errored ?? new GitError('failed', 'the client went away')
    await readableOrOver(input)
  }
}

function readableOrOver(input: Readable): Promise<void> {
  return new Promise((resolve) => {
    const events = ['readable', 'end', 'close', 'error']
    const done = () => {
      for (const event of events) input.off(event, done)
      resolve()
    }
    for (const event of events) input.on(event, done)
  })
}

class RequestParser {
  readonly #commands: RefMove[] = []
  readonly #names = new Set<string>()
  readonly #options: string[] = []
  #capabilities: ReadonlySet<string> | undefined
  #section: 'commands' | 'options' = 'commands'
  #shallow = false

  /** Takes the packets that are there; true when the request is complete. */
  takeAll(reader: PacketReader): boolean {
    for (let packet = reader.next(); packet; packet = reader.next()) {
      if (this.#take(packet)) return true
    }
    return false
  }

  #take(packet: Packet): boolean {
    if (packet.kind === 'flush') return this.#endSection()
    if (packet.kind !== 'data') throw new GitError('invalid', 'unexpected packet in a push')
    if (this.#section === 'options') this.#takeOption(packet.bytes)
    else this.#takeCommand(packet.bytes)
    return false
  }

  request(head: Buffer): PushRequest {
    return {
      commands: this.#commands,
      capabilities: this.#capabilities ?? new Set(),
      options: this.#options,
      shallow: this.#shallow,
      head,
    }
  }

  #endSection(): boolean {
    const wantsOptions = this.#capabilities?.has('push-options') === true
    if (this.#section === 'options' || !wantsOptions || this.#commands.length === 0) return true
    this.#section = 'options'
    return false
  }

  #takeCommand(bytes: Buffer): void {
    const zero = bytes.indexOf(0)
    if (zero >= 0 && this.#capabilities === undefined) {
      const words = bytes
        .toString('latin1', zero + 1)
        .trim()
        .split(' ')
      this.#capabilities = new Set(words.filter((word) => word !== ''))
    }
    const line = decode(zero < 0 ? bytes : bytes.subarray(0, zero)).replace(/\n$/, '')
    if (line.startsWith('shallow ')) {
      this.#shallow = true
      return
    }
    const match = commandForm.exec(line)
    const [, oldId, newId, name] = match ?? []
    if (oldId === undefined || newId === undefined || name === undefined) {
      throw new GitError('invalid', 'malformed command in a push')
    }
    if (this.#names.has(name)) throw new GitError('invalid', 'a push names the same ref twice')
    this.#names.add(name)
    this.#commands.push({ name, oldId, newId })
  }

  #takeOption(bytes: Buffer): void {
    if (this.#options.length >= maxOptions) throw new GitError('too_large', 'too many push options')
    this.#options.push(decode(bytes).replace(/\n$/, ''))
  }
}

function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new GitError('invalid', 'ref names and push options must be UTF-8')
  }
}
