import { asGitError, type NativeOdb, type NativeRepository, openNative } from '../native.ts'

/** A repository as an engine process holds it: native handles and caches, opened when first needed. */
export class OpenRepository {
  readonly path: string
  #handle: Promise<NativeRepository> | undefined
  #odb: Promise<NativeOdb> | undefined
  readonly #kept = new Map<symbol, unknown>()

  constructor(path: string) {
    this.path = path
  }

  /** The shared native handle. Calls that take a repository lock it; reads from `odb()` do not. */
  handle(): Promise<NativeRepository> {
    this.#handle ??= openNative(this.path).catch((error) => {
      this.#handle = undefined
      throw error
    })
    return this.#handle
  }

  /** The object database: reads run in parallel. */
  odb(): Promise<NativeOdb> {
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

/** The repositories an engine process has open: the 64 used last. */
export class OpenRepositories {
  readonly #limit: number
  readonly #open = new Map<string, OpenRepository>()

  constructor(limit = 64) {
    this.#limit = limit
  }

  get(path: string): OpenRepository {
    const repository = this.#open.get(path) ?? new OpenRepository(path)
    this.#open.delete(path)
    this.#open.set(path, repository)
    const oldest = this.#open.keys().next()
    if (this.#open.size > this.#limit && !oldest.done) this.#open.delete(oldest.value)
    return repository
  }

  forget(path: string): void {
    this.#open.delete(path)
  }
}
