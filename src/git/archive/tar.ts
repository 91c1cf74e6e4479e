import { pack as openPack } from 'tar-stream'
import { drained } from '../../base/streams/drained.ts'
import { GitError } from '../error.ts'
import type { ObjectId } from '../types.ts'
import type { Item } from './items.ts'

export interface ArchiveFrame {
  /** The one folder at the top. */
  readonly name: string
  readonly commitId: ObjectId
  /** The commit's time: the same commit gives the same bytes. */
  readonly time: Date
}

type Pack = ReturnType<typeof openPack>
type Header = Parameters<Pack['entry']>[0]

const owner = { uid: 0, gid: 0, uname: 'root', gname: 'root' } as const
const block = 512

function octal(value: number, digits: number): string {
  return `${value.toString(8).padStart(digits - 1, '0')}\0`
}

/** The header that holds the commit id, where `git get-tar-commit-id` looks for it. */
function globalHeader({ commitId, time }: ArchiveFrame): Buffer {
  const comment = ` comment=${commitId}\n`
  const record = `${comment.length + 2}${comment}`
  const header = Buffer.alloc(block)
  header.write('pax_global_header', 0)
  header.write(octal(0o666, 8), 100)
  header.write(octal(0, 8), 108)
  header.write(octal(0, 8), 116)
  header.write(octal(record.length, 12), 124)
  header.write(octal(Math.max(0, Math.floor(time.getTime() / 1000)), 12), 136)
  header.write('        g', 148)
  header.write('ustar\x0000root', 257)
  header.write('root', 297)
  header.write(octal(0, 8), 329)
  header.write(octal(0, 8), 337)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${octal(sum, 7)} `, 148)
  const body = Buffer.alloc(block)
  body.write(record)
  return Buffer.concat([header, body])
}

/** Adds an entry and waits until the reader has taken it. */
function add(pack: Pack, header: Header, body: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    pack.entry(header, body, (error?: Error | null) => {
      if (error) reject(error)
      else resolve()
    })
  })
}

async function addStream(pack: Pack, header: Header, body: AsyncIterable<Buffer>): Promise<void> {
  let finished: (error?: Error | null) => void = () => {}
  const done = new Promise<void>((resolve, reject) => {
    finished = (error) => (error ? reject(error) : resolve())
  })
  // A reader that goes away destroys the entry: unheard, that error would end the process.
  done.catch(() => {})
  const sink = pack.entry(header, finished)
  sink.on('error', finished)
  for await (const piece of body) {
    const takesMore = sink.write(piece)
    // A closed entry will never say that it takes more.
    if (sink.destroyed) throw new GitError('timeout', 'the reader went away')
    if (!takesMore) await drained(sink)
  }
  sink.end(null)
  await done
}

async function addItem(pack: Pack, frame: ArchiveFrame, item: Item): Promise<void> {
  const common = { ...owner, mtime: frame.time, name: `${frame.name}/${item.path}` }
  if (item.kind === 'folder') {
    const name = `${common.name}/`
    await add(pack, { ...common, name, type: 'directory', mode: 0o775 }, Buffer.alloc(0))
  } else if (item.kind === 'link') {
    const header: Header = { ...common, type: 'symlink', linkname: item.target, mode: 0o777 }
    await add(pack, header, Buffer.alloc(0))
  } else {
    const mode = item.executable ? 0o775 : 0o664
    const header: Header = { ...common, type: 'file', mode, size: item.size }
    if (Buffer.isBuffer(item.body)) await add(pack, header, item.body)
    else await addStream(pack, header, item.body)
  }
}

/** A tar file as `git archive` lays it out. */
export async function* tar(
  items: AsyncIterable<Item>,
  frame: ArchiveFrame,
): AsyncGenerator<Buffer> {
  yield globalHeader(frame)
  const pack = openPack()
  // Whoever reads gets errors by reading; without a listener one would end the process.
  pack.on('error', () => {})
  const adding = (async () => {
    const top = { ...owner, mtime: frame.time, name: `${frame.name}/` }
    await add(pack, { ...top, type: 'directory', mode: 0o775 }, Buffer.alloc(0))
    for await (const item of items) await addItem(pack, frame, item)
    pack.finalize()
  })().catch((error: Error) => pack.destroy(error))
  try {
    for await (const chunk of pack) yield chunk as Buffer
    await adding
  } finally {
    pack.destroy()
  }
}
