import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isObjectId } from '../../names.ts'
import { searchIds } from '../../objects/packs/sorted-ids.ts'

/*
 * git's commit-graph file and chains of them (gitformat-commit-graph(5)): the parents, dates and trees
 * of commits as tables, with Bloom filters of the paths that each commit changed.
 */

/** One file of the chain. Positions count through all of them, the oldest first. */
export interface GraphLayer {
  readonly start: number
  readonly count: number
  /** Bytes of an id: 20, or 32 for SHA-256. */
  readonly idBytes: number
  readonly fanout: Buffer
  /** The sorted ids. */
  readonly ids: Buffer
  /** Tree, parents, generation and date of each commit. */
  readonly commits: Buffer
  readonly edges: Buffer
  /** Offsets of corrected commit dates, which git writes since 2.36; without them a graph is not used. */
  readonly correction: Buffer
  readonly largeCorrection: Buffer | undefined
  readonly bloom: BloomTable | undefined
}

export interface BloomTable {
  readonly ends: Buffer
  readonly data: Buffer
  readonly hashes: number
}

const headerBytes = 8
/** By the hash version in the header. */
const idWidths: readonly (number | undefined)[] = [undefined, 20, 32]

/** What the graph files look like from outside: changes when git writes new ones. */
export function graphStamp(repository: string): string {
  return [singleFile(repository), chainFile(repository)]
    .map((path) => statSync(path, { bigint: true, throwIfNoEntry: false }))
    .map((stats) => (stats ? `${stats.ino}.${stats.size}.${stats.mtimeNs}` : '-'))
    .join(' ')
}

/** The layers of a repository's commit graph; none when there is no usable one. */
export function readGraph(repository: string): GraphLayer[] {
  try {
    return readLayers(graphFiles(repository))
  } catch {
    // A graph is a shortcut: a damaged or vanishing one only means reading the commits themselves.
    return []
  }
}

function singleFile(repository: string): string {
  return join(repository, 'objects/info/commit-graph')
}

function chainFile(repository: string): string {
  return join(repository, 'objects/info/commit-graphs/commit-graph-chain')
}

/** The graph files of a repository, the oldest first. */
function graphFiles(repository: string): string[] {
  if (statSync(singleFile(repository), { throwIfNoEntry: false })) return [singleFile(repository)]
  if (!statSync(chainFile(repository), { throwIfNoEntry: false })) return []
  const folder = join(repository, 'objects/info/commit-graphs')
  return readFileSync(chainFile(repository), 'latin1')
    .split('\n')
    .filter(isObjectId)
    .map((hash) => join(folder, `graph-${hash}.graph`))
}

function readLayers(files: readonly string[]): GraphLayer[] {
  const layers: GraphLayer[] = []
  let start = 0
  for (const file of files) {
    const layer = parseLayer(readFileSync(file), start)
    layers.push(layer)
    start += layer.count
  }
  return layers
}

function parseLayer(file: Buffer, start: number): GraphLayer {
  const idBytes = idBytesIn(file)
  const chunks = readChunks(file)
  const need = (name: string): Buffer => {
    const chunk = chunks.get(name)
    if (!chunk) throw new Error(`a commit graph without ${name}`)
    return chunk
  }
  const ids = need('OIDL')
  const count = ids.length / idBytes
  assertWhole(need('OIDF'), count, idBytes, chunks)
  return {
    start,
    count,
    idBytes,
    fanout: need('OIDF'),
    ids,
    commits: need('CDAT'),
    edges: chunks.get('EDGE') ?? Buffer.alloc(0),
    correction: need('GDA2'),
    largeCorrection: chunks.get('GDO2'),
    bloom: readBloom(chunks.get('BIDX'), chunks.get('BDAT')),
  }
}

/** A table that is too short, or out of order, would be read beyond its end. */
function assertWhole(
  fanout: Buffer,
  count: number,
  idBytes: number,
  chunks: ReadonlyMap<string, Buffer>,
): void {
  const lengths: [string, number][] = [
    ['OIDF', 1024],
    ['CDAT', count * (idBytes + 16)],
    ['GDA2', count * 4],
    ['BIDX', count * 4],
  ]
  for (const [name, length] of lengths) {
    const chunk = chunks.get(name)
    if (chunk && chunk.length < length) throw new Error(`a short ${name}`)
  }
  let before = 0
  for (let i = 0; i < 256; i += 1) {
    const end = fanout.readUInt32BE(i * 4)
    if (end < before || end > count) throw new Error('a fanout out of order')
    before = end
  }
}

function idBytesIn(file: Buffer): number {
  const isGraph = file.toString('latin1', 0, 4) === 'CGPH' && file[4] === 1
  const idBytes = idWidths[file[5] ?? 0]
  if (!isGraph || idBytes === undefined) throw new Error('not a commit graph that we know')
  return idBytes
}

/** The names of the chunks and where each begins, one without a name behind the last. */
function chunkPlaces(start: Buffer): [name: string, at: number][] {
  return Array.from({ length: (start[6] ?? 0) + 1 }, (_, i) => {
    const at = headerBytes + i * 12
    return [start.toString('latin1', at, at + 4), Number(start.readBigUInt64BE(at + 4))]
  })
}

function readChunks(file: Buffer): Map<string, Buffer> {
  const places = chunkPlaces(file)
  return new Map(places.map(([name, at], i) => [name, file.subarray(at, places[i + 1]?.[1])]))
}

function readBloom(ends: Buffer | undefined, data: Buffer | undefined): BloomTable | undefined {
  if (!ends || !data || data.length < 12) return undefined
  // Version 2 differs for paths beyond ASCII only, and for those no filter is asked.
  const version = data.readUInt32BE(0)
  if (version !== 1 && version !== 2) return undefined
  return { ends, data: data.subarray(12), hashes: data.readUInt32BE(4) }
}

/** The position of an id in a layer, counted from the layer's start; below 0 when it is not there. */
export function findInLayer({ fanout, ids, idBytes }: GraphLayer, id: Buffer): number {
  if (id.length !== idBytes) return -1
  const first = id[0] ?? 0
  const from = first === 0 ? 0 : fanout.readUInt32BE((first - 1) * 4)
  return searchIds(ids, from, fanout.readUInt32BE(first * 4), id)
}
