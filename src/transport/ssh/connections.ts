import type { Socket } from 'node:net'
import { sharingAddress } from '../../base/outbound/address.ts'

export interface ConnectionLimits {
  /** Connections of whom nobody knows yet who they are. */
  readonly strangers: number
  readonly strangersOfOne: number
  /** Connections in all. */
  readonly all: number
  readonly ofOne: number
}

interface Open {
  readonly socket: Socket
  readonly address: string
  isKnown: boolean
}

/**
 * Counts connections, in all and by address. Among strangers the oldest makes room for the newest: a handshake takes a
 * fraction of a second, so that who comes to work gets through a crowd that only holds places.
 */
export class Connections {
  readonly #limits: ConnectionLimits
  readonly #isProxy: (address: string) => boolean
  readonly #open = new Set<Open>()

  constructor(limits: ConnectionLimits, isProxy: (address: string) => boolean) {
    this.#limits = limits
    this.#isProxy = isProxy
  }

  get sockets(): Socket[] {
    return [...this.#open].map(({ socket }) => socket)
  }

  /** Counts a new connection, or ends it; gives the function that says its client is known. */
  add(socket: Socket): (() => void) | undefined {
    const { remoteAddress: from = '' } = socket
    const address = sharingAddress(from)
    const limits = this.#limits
    const ofOne = [...this.#open].filter((one) => one.address === address)
    const isShared = this.#isProxy(from)
    if (this.#open.size >= limits.all || (!isShared && ofOne.length >= limits.ofOne)) {
      socket.destroy()
      return undefined
    }
    if (!isShared) this.#makeRoom(ofOne, limits.strangersOfOne)
    this.#makeRoom([...this.#open], limits.strangers)
    const open: Open = { socket, address, isKnown: false }
    this.#open.add(open)
    socket.once('close', () => this.#open.delete(open))
    return () => {
      open.isKnown = true
    }
  }

  #makeRoom(among: readonly Open[], most: number): void {
    const strangers = among.filter(({ isKnown }) => !isKnown)
    for (const old of strangers.slice(0, Math.max(0, strangers.length - most + 1))) {
      this.#open.delete(old)
      old.socket.destroy()
    }
  }
}
