import type { JobVariable } from './job.ts'

/** Variables in variables in variables are followed so far. */
const DEEPEST = 20
const LONGEST = 1024 * 1024

/** The variables of a job, the last of each name, with `$X` and `${X}` in their values replaced by what they stand for. */
export class Variables {
  readonly #values = new Map<string, JobVariable>()

  constructor(given: readonly JobVariable[]) {
    for (const one of given) this.#values.set(one.key, one)
  }

  set(key: string, value: string): void {
    this.#values.set(key, { key, value, raw: true })
  }

  get(key: string): string | undefined {
    const found = this.#values.get(key)
    return found && (found.raw ? found.value : this.expand(found.value, 1))
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
        if (!found) return ''
        return found.raw || found.file ? found.value : this.expand(found.value, depth + 1)
      },
    )
    return expanded.slice(0, LONGEST)
  }

  /** All of them; those of files by the path that `pathOf` gives. */
  environment(pathOf: (key: string) => string): Record<string, string> {
    return Object.fromEntries(
      [...this.#values.values()].map((one) => [
        one.key,
        one.file ? pathOf(one.key) : (this.get(one.key) ?? ''),
      ]),
    )
  }

  /** Those that go into files, with their contents. */
  files(): readonly (readonly [string, string])[] {
    return [...this.#values.values()]
      .filter((one) => one.file)
      .map((one) => [one.key, this.get(one.key) ?? ''])
  }

  /** What the log must not show: masked values as they are written and as they are understood. */
  masked(): string[] {
    const values = [...this.#values.values()].filter((one) => one.masked)
    return values
      .flatMap((one) => [one.value, this.get(one.key) ?? ''])
      .flatMap((value) => [value, ...value.split('\n')])
      .filter((value) => value.length >= 4)
  }
}
