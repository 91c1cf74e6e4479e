/** How much of a diff is given out; docs/contract/B-resolved §1.5. */
export interface DiffLimits {
  /** Bytes of one file's patch from which it is `tooLarge`. */
  readonly fileBytes: number
  readonly files: number
  readonly lines: number
  readonly bytes: number
  /** Soft limits do not apply: the patch was asked for by itself. */
  readonly expanded: boolean
}

/** The defaults of docs/contract/B-resolved §1.5. */
export const defaultDiffLimits: DiffLimits = {
  fileBytes: 200 * 1024,
  files: 1000,
  lines: 50_000,
  bytes: 5 * 1024 * 1000,
  expanded: false,
}

/** Soft limits are a tenth of the hard ones. */
const softPart = 0.1

/** What is left out of one file: nothing, what can be fetched by itself, or what can't be had. */
export type Verdict = 'whole' | 'collapsed' | 'too_large' | 'overflow'

/** Counts what was given out and says what happens to the next file. */
export class DiffBudget {
  readonly #limits: DiffLimits
  #files = 0
  #lines = 0
  #bytes = 0

  constructor(limits: DiffLimits) {
    this.#limits = limits
  }

  /** The verdict on a file's patch. A collapsed one counts: the list must end somewhere. */
  judge(patch: { readonly bytes: number; readonly lines: number }): Verdict {
    const { files, lines, bytes, fileBytes, expanded } = this.#limits
    const tooLarge = patch.bytes >= fileBytes
    this.#files += 1
    this.#lines += tooLarge ? 0 : patch.lines
    this.#bytes += tooLarge ? 0 : patch.bytes
    if (this.#files > files || this.#lines >= lines || this.#bytes >= bytes) return 'overflow'
    if (tooLarge) return 'too_large'
    const soft =
      patch.bytes >= fileBytes * softPart ||
      this.#files > files * softPart ||
      this.#lines >= lines * softPart ||
      this.#bytes >= bytes * softPart
    return !expanded && soft && patch.bytes > 0 ? 'collapsed' : 'whole'
  }
}
