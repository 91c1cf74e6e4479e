import type { JobVariable } from './job.ts'

/** Variables in variables in variables are followed so far. */
const DEEPEST = 20
const LONGEST = 1024 * 1024

/**
 * The variables of a job, the last of each name, with `$X` and `${X}` in their values replaced by what they stand for. Those of
 * files stand for the path that `pathOf` gives, never for the content.
 */
export class Variables {
  readonly #values = new Map<string, JobVariable>()
  readonly #pathOf: (key: string) => string

  constructor(given: readonly JobVariable[], pathOf: (key: string) => string) {
    this.#pathOf = pathOf
    for (const one of given) this.#values.set(one.key, one)
  }

  set(key: string, value: string): void {
    this.#values.set(key, { key, value, raw: true })
  }

  get(key: string): string | undefined {
    const found = this.#values.get(key)
    return found && this.#valueOf(found, 0)
  }

  #valueOf(one: JobVariable, depth: number): string {
    return one.file ? this.#pathOf(one.key) : this.#contentOf(one, depth)
  }

  #contentOf(one: JobVariable, depth = 0): string {
    return one.raw ? one.value : this.expand(one.value, depth + 1)
  }

  /** `true`, `1` and the like. */
  isOn(key: string): boolean {
    return /^(true|1|yes|on)$/i.test(this.get(key) ?? '')
  }

  expand(text: string, depth = 0): string {
    if (depth > DEEPEST || !text.includes('$')) return text
    const expanded = text.replaceAll(
      /\$\$|\$\{([A-Za-z_]\w*)\}|\$([A-Za-z_]\w*)/g,
      (whole, braced?: string, plain?: string) => {
        if (whole === '$$') return '$'
        const found = this.#values.get(braced ?? plain ?? '')
        return found ? this.#valueOf(found, depth) : ''
      },
    )
    return expanded.slice(0, LONGEST)
  }

  /** All of them; those of files by their paths. */
  environment(): Record<string, string> {
    return Object.fromEntries(
      [...this.#values.values()].map((one) => [one.key, this.#valueOf(one, 0)]),
    )
  }

  /** Those that go into files, with their contents. */
  files(): readonly (readonly [string, string])[] {
    return [...this.#values.values()]
      .filter((one) => one.file)
      .map((one) => [one.key, this.#contentOf(one)])
  }

  /** What the log must not show: masked values as they are written and as they are understood. */
  masked(): string[] {
    const values = [...this.#values.values()].filter((one) => one.masked)
    return values
      .flatMap((one) => [one.value, this.#contentOf(one)])
      .flatMap((value) => [value, ...value.split('\n')])
      .filter((value) => value.length >= 4)
  }
}
