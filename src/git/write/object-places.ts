import { mkdirSync, renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { syncUnlessGone } from '../repo-layout.ts'

const folderAttempts = 100

/** The places of objects that were written elsewhere, and which names they have changed in a repository. */
export class ObjectPlaces {
  readonly #objects: string
  readonly #changed = new Set<string>()

  /** `path` is the repository's. */
  constructor(path: string) {
    this.#objects = join(path, 'objects')
  }

  /**
   * Gives a written object its place below `objects`, making the folder when that is missing. Maintenance takes
   * folders away that it has emptied, at any moment before there is something new in them: so the file was
   * written elsewhere, and nothing is waited for between these two calls.
   */
  put(draft: string, place: string): void {
    const file = join(this.#objects, place)
    this.#changed.add(dirname(file))
    for (let attempt = 1; ; attempt += 1) {
      try {
        renameSync(draft, file)
        return
      } catch (error) {
        if (!isMissing(error) || attempt === folderAttempts) throw error
        mkdirSync(dirname(file), { recursive: true })
        this.#changed.add(this.#objects)
      }
    }
  }

  /** Brings the new names onto the disk. A folder that is gone again held only what is in a pack by now. */
  async sync(): Promise<void> {
    await Promise.all([...this.#changed].map(syncUnlessGone))
  }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT'
}
