import { gitRecords } from '../../command.ts'
import type { OpenRepository } from '../../engine/open-repository.ts'
import { readLinked } from '../../objects/objects.ts'
import { parseCommit } from '../../objects/parse-object.ts'
import type { ObjectId } from '../../types.ts'
import type { History } from './history.ts'
import { grown } from './queue.ts'

/** More commits than this are listed by one git process: a read of each costs a thread switch. */
const singleReads = 4096

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
  async load(positions: readonly number[], signal: AbortSignal): Promise<void> {
    if (this.#known.length < this.#history.size) {
      this.#known = grown(new Int32Array(this.#history.size + 256), this.#known)
    }
    const missing = positions.filter((position) => !this.#known[position])
    if (missing.length > singleReads) {
      await this.#loadAll(missing, signal)
      return
    }
    await Promise.all(
      missing.map(async (position) => {
        const id = this.#history.idOf(position)
        const data = await readLinked(this.#repository, id, 'commit')
        this.#known[position] = this.#number(authorIn(id, data)) + 1
      }),
    )
  }

  async #loadAll(positions: readonly number[], signal: AbortSignal): Promise<void> {
    const lines = gitRecords(
      {
        repo: this.#repository.path,
        args: ['log', '--stdin', '--no-walk=unsorted', '-z', '--format=%H %an <%ae>'],
        stdin: positions.map((position) => `${this.#history.idOf(position)}\n`).join(''),
        signal,
      },
      0,
    )
    for await (const line of lines) {
      const gap = line.indexOf(0x20)
      const position = this.#history.find(line.toString('latin1', 0, gap))
      if (position >= 0) this.#known[position] = this.#number(line.toString('utf8', gap + 1)) + 1
    }
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

const start = Buffer.from('\nauthor ')
const encoding = Buffer.from('\nencoding ')

/** The author without the rest of the commit: tens of thousands are read for one question. */
function authorIn(id: ObjectId, data: Buffer): string {
  const at = data.indexOf(start)
  const from = at + start.length
  const mailEnd = data.indexOf(0x3e, from)
  if (at < 0 || mailEnd < 0 || mailEnd > data.indexOf(0x0a, from) || data.includes(encoding)) {
    const { author } = parseCommit(id, data)
    return `${author.name} <${author.email}>`
  }
  return data.toString('utf8', from, mailEnd + 1)
}

const all = new WeakMap<History, Authors>()

/** The authors known of a repository, together with the history they belong to. */
export function authorsOf(repository: OpenRepository, history: History): Authors {
  const authors = all.get(history) ?? new Authors(repository, history)
  all.set(history, authors)
  return authors
}
