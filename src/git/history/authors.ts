import type { OpenRepository } from '../engine/open-repository.ts'
import { readLinked } from '../objects.ts'
import { parseCommit } from '../parse-object.ts'
import type { History } from './history.ts'

const authorsKey = Symbol('authors')

/** `Name <mail>` of commits, kept as numbers into a list of the different ones. */
export class Authors {
  readonly #repository: OpenRepository
  readonly #history: History
  /** Index into `#names` plus one, by position. */
  #known = new Int32Array(0)
  readonly #names: string[] = []
  readonly #numbers = new Map<string, number>()

  constructor(repository: OpenRepository, history: History) {
    this.#repository = repository
    this.#history = history
  }

  /** Reads the authors of these commits, as far as they are not known yet. */
  async load(positions: readonly number[]): Promise<void> {
    if (this.#known.length < this.#history.size) {
      const longer = new Int32Array(this.#history.size + 256)
      longer.set(this.#known)
      this.#known = longer
    }
    const missing = positions.filter((position) => !this.#known[position])
    await Promise.all(
      missing.map(async (position) => {
        const id = this.#history.idOf(position)
        const commit = parseCommit(id, await readLinked(this.#repository, id, 'commit'))
        this.#known[position] = this.#number(`${commit.author.name} <${commit.author.email}>`) + 1
      }),
    )
  }

  /** Number of a loaded commit's author: the same for the same person. */
  numberOf(position: number): number {
    return (this.#known[position] ?? 0) - 1
  }

  name(number: number): string {
    return this.#names[number] ?? ''
  }

  #number(name: string): number {
    const known = this.#numbers.get(name)
    if (known !== undefined) return known
    this.#names.push(name)
    this.#numbers.set(name, this.#names.length - 1)
    return this.#names.length - 1
  }
}

/** The authors known of a repository, together with the history they belong to. */
export function authorsOf(repository: OpenRepository, history: History): Authors {
  const all = repository.keep(authorsKey, () => new WeakMap<History, Authors>())
  const known = all.get(history)
  if (known) return known
  const authors = new Authors(repository, history)
  all.set(history, authors)
  return authors
}
