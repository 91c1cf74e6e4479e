import type { ObjectType } from '../types.ts'

export interface UnpackedObject {
  readonly type: ObjectType
  /** Shared with other readers: never written to. */
  readonly data: Buffer
}

/** Objects larger than this are seldom needed again soon. */
const largest = 256 * 1024

/** Objects by their place in a pack, in two generations: the older one goes when the newer is full. */
export class RecentObjects {
  readonly #limit: number
  #newer = new Map<string, Map<number, UnpackedObject>>()
  #older = new Map<string, Map<number, UnpackedObject>>()
  #bytes = 0

  /** `limit` is for each of the two generations. */
  constructor(limit: number) {
    this.#limit = limit
  }

  get(pack: string, offset: number): UnpackedObject | undefined {
    const found = this.#newer.get(pack)?.get(offset)
    if (found) return found
    const older = this.#older.get(pack)?.get(offset)
    if (older) this.add(pack, offset, older)
    return older
  }

  add(pack: string, offset: number, object: UnpackedObject): void {
    if (object.data.length > largest) return
    if (this.#bytes > this.#limit) {
      this.#older = this.#newer
      this.#newer = new Map()
      this.#bytes = 0
    }
    const objects = this.#newer.get(pack) ?? new Map<number, UnpackedObject>()
    this.#newer.set(pack, objects)
    objects.set(offset, object)
    this.#bytes += object.data.length + 200
  }
}
