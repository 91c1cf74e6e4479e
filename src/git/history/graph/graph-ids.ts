import type { OpenRepository } from '../../engine/open-repository.ts'
import { OpenFile } from '../../objects/packs/open-file.ts'
import { searchIds } from '../../objects/packs/sorted-ids.ts'
import type { ObjectId } from '../../types.ts'
import { graphFiles, graphStamp, layoutOf } from './graph-file.ts'

/** Ids that begin with the same byte and are read at once, in bytes: those of three million commits. */
const largestRead = 256 * 1024

interface Layer {
  readonly start: number
  readonly file: OpenFile
  readonly fanout: Buffer
  readonly idsAt: number
  readonly idBytes: number
}

/** Where commits stand in the graph files, read from there: for a process that does not load a history. */
class GraphIds {
  /** What the graph files looked like when these were opened. */
  readonly stamp: string
  readonly #layers: readonly Layer[]

  /** Throws when the files are damaged, or change meanwhile. */
  constructor(repository: string, stamp: string) {
    this.stamp = stamp
    this.#layers = openLayers(graphFiles(repository))
    if (graphStamp(repository) !== stamp) throw new Error('the commit graph is being replaced')
  }

  /** The position of a commit, as `History` counts; −1 when no file has it. */
  find(id: ObjectId): number {
    const bytes = Buffer.from(id, 'hex')
    for (const layer of this.#layers) {
      const at = findIn(layer, bytes)
      if (at >= 0) return layer.start + at
    }
    return -1
  }
}

function openLayers(paths: readonly string[]): Layer[] {
  const layers: Layer[] = []
  let start = 0
  for (const path of paths) {
    const file = new OpenFile(path)
    const { idBytes, fanoutAt, idsAt } = layoutOf(file.read(1024, 0))
    const fanout = file.read(1024, fanoutAt)
    layers.push({ start, file, fanout, idsAt, idBytes })
    start += fanout.readUInt32BE(255 * 4)
  }
  return layers
}

function findIn({ file, fanout, idsAt, idBytes }: Layer, id: Buffer): number {
  const first = id[0] ?? 0
  const from = first === 0 ? 0 : fanout.readUInt32BE((first - 1) * 4)
  const length = (fanout.readUInt32BE(first * 4) - from) * idBytes
  if (id.length !== idBytes || length <= 0) return -1
  if (length > largestRead) throw new Error('more commits than are read here')
  const ids = file.read(length, idsAt + from * idBytes)
  const at = searchIds(ids, 0, ids.length / idBytes, id)
  return at < 0 ? at : from + at
}

const key = Symbol('graph ids')

/** The ids of a repository's graph as it is now, opened again when it has changed. */
export function graphIdsOf(repository: OpenRepository): GraphIds {
  const stamp = graphStamp(repository.path)
  const holder = repository.keep<{ ids: GraphIds | undefined }>(key, () => ({ ids: undefined }))
  if (holder.ids?.stamp !== stamp) holder.ids = new GraphIds(repository.path, stamp)
  return holder.ids
}
