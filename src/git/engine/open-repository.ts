import { LRUCache } from 'lru-cache'
import { assertRepository } from '../damage.ts'
import { asGitError, type NativeOdb, type NativeRepository, openNative } from './native.ts'
import { NeedsEngine } from './needs-engine.ts'

/** Where a repository is open: in an engine process, or in the main one for small reads alone. */
export type Where = 'engine' | 'in process'

/** A repository as a process holds it: native handles and caches, opened when first needed. */
export class OpenRepository {
  readonly path: string
  readonly where: Where
  #handle: Promise<NativeRepository> | undefined
  #odb: Promise<NativeOdb> | undefined
  readonly #kept = new Map<symbol, unknown>()

  constructor(path: string, where: Where = 'engine') {
    this.path = path
    this.where = where
  }

  /** Throws in the main process, before something that only an engine process may do. */
  assertEngine(what: string): void {
    if (this.where === 'in process') throw new NeedsEngine(what)
  }

  /** The shared native handle. Calls that take a repository lock it; reads from `odb()` do not. */
  handle(): Promise<NativeRepository> {
    this.assertEngine('native code')
    this.#handle ??= openNative(this.path).catch((error) => {
      this.#handle = undefined
      assertRepository(this.path)
      throw error
    })
    return this.#handle
  }

  /** The object database: reads run in parallel. */
  odb(): Promise<NativeOdb> {
    this.assertEngine('native code')
    this.#odb ??= this.handle()
      .then((handle) => handle.odb())
      .catch((error) => {
        this.#odb = undefined
        throw asGitError(error)
      })
    return this.#odb
  }

  /** What a reader keeps per repository (a graph, a ref table), made at the first call. */
  keep<Value>(key: symbol, make: () => Value): Value {
    if (!this.#kept.has(key)) this.#kept.set(key, make())
    // Only `make` of the same key stores here, so the type is the maker's.
    return this.#kept.get(key) as Value
  }
}

/** The repositories a process has open: an engine process the 64 used last. */
export class OpenRepositories {
  readonly #where: Where
  readonly #open: LRUCache<string, OpenRepository>

  constructor(limit = 64, where: Where = 'engine') {
    this.#open = new LRUCache({ max: limit })
    this.#where = where
  }

  get(path: string): OpenRepository {
    const repository = this.#open.get(path) ?? new OpenRepository(path, this.#where)
    this.#open.set(path, repository)
    return repository
  }

  forget(path: string): void {
    this.#open.delete(path)
  }
}
