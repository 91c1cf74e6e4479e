/** What the archives of one job may unpack to, its artifacts together and its caches together. */
export interface UnpackLimits {
  /** Files, folders and whatever else an archive lists. */
  readonly entries: number
  readonly bytes: number
}

export const usualUnpackLimits: UnpackLimits = { entries: 500_000, bytes: 10 * 1024 ** 3 }

/** What is left of such limits while archives are unpacked. */
export class UnpackRoom {
  readonly #limits: UnpackLimits
  #entries = 0
  #bytes = 0

  constructor(limits: UnpackLimits) {
    this.#limits = limits
  }

  /** Takes room for one more entry, before anything of it is written. */
  take(bytes: number): void {
    const { entries: mostEntries, bytes: mostBytes } = this.#limits
    this.#entries += 1
    this.#bytes += bytes
    if (this.#entries > mostEntries) throw new Error(`more than ${mostEntries} files are unpacked`)
    if (this.#bytes > mostBytes) throw new Error(`more than ${mostBytes} bytes are unpacked`)
  }
}
