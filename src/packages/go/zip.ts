import { Readable } from 'node:stream'
import type { Project } from '../../access/subjects.ts'
import { badRequest } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { Item } from '../../git/archive/items.ts'
import { zip } from '../../git/archive/zip.ts'
import { streamBlob } from '../../git/objects/blob.ts'
import { listTipFiles } from '../../git/objects/tip-files.ts'
import { findTreeEntry, readTree } from '../../git/objects/tree.ts'
import type { Repo } from '../../git/repo.ts'
import type { TreeEntry } from '../../git/types.ts'
import type { GoModule } from './module.ts'
import type { GoVersion } from './versions.ts'

const MOST_BYTES = 100 * 1024 * 1024
const MOST_FILES = 100_000

/**
 * The files of a module as the go command packs them from the sources: below `<module>@<version>/`, without modules that
 * are nested in it, vendored packages, links and submodules. Its sum in `go.sum` is of exactly these names and contents.
 */
export async function zipModule(
  ctx: Ctx,
  project: Project,
  module: GoModule,
  { version, commit, mod }: GoVersion,
): Promise<Readable> {
  const repo = ctx.git.open(project.id)
  const { entries } = await readTree(repo, { ref: commit.id, path: module.folder, recursive: true })
  const own = filesOf(entries, module.folder, isFrom124(mod))
  const license = own.some((file) => file.name === 'LICENSE')
    ? undefined
    : await findTreeEntry(repo, { ref: commit.id, path: 'LICENSE' })
  if (license && isRegular(license)) own.push({ entry: license, name: 'LICENSE' })
  if (own.length > MOST_FILES) throw badRequest('The module has too many files')
  const sizes = new Map((await listTipFiles(repo, commit.id)).map((one) => [one.path, one.size]))
  const total = own.reduce((sum, { entry }) => sum + (sizes.get(entry.path) ?? 0), 0)
  if (total > MOST_BYTES) throw badRequest('The module is too large')
  const time = new Date(commit.committer.seconds * 1000)
  const frame = { name: `${module.name}@${version}`, commitId: commit.id, time }
  return Readable.from(zip(itemsOf(repo, own), frame, { top: false }), { objectMode: false })
}

interface ModuleFile {
  readonly entry: TreeEntry
  /** Below the folder of the module. */
  readonly name: string
}

const isRegular = (entry: TreeEntry) => /^100/.test(entry.mode)

/** Those entries of the folder of a module that are files of it. */
export function filesOf(
  entries: readonly TreeEntry[],
  folder: string,
  from124: boolean,
): ModuleFile[] {
  const skip = folder === '' ? 0 : folder.length + 1
  const all = entries.map((entry) => ({ entry, name: entry.path.slice(skip) }))
  const nested = new Set(
    all
      .filter(({ entry, name }) => isRegular(entry) && /\/go\.mod$/i.test(name))
      .map(({ name }) => name.slice(0, -'go.mod'.length)),
  )
  return all.filter(
    ({ entry, name }) =>
      isRegular(entry) &&
      !isWithin(nested, name) &&
      !isVendored(name, from124) &&
      name !== '.hg_archival.txt',
  )
}

/** Whether one of the folders above a file is one of these, which end in a slash. */
function isWithin(folders: ReadonlySet<string>, name: string): boolean {
  for (let at = name.indexOf('/'); at >= 0; at = name.indexOf('/', at + 1)) {
    if (folders.has(name.slice(0, at + 1))) return true
  }
  return false
}

/** Whether a go.mod says `go 1.24` or later. */
function isFrom124(mod: Buffer): boolean {
  const [, major, minor] = /^go\s+(\d+)\.(\d+)/m.exec(mod.toString('utf8')) ?? []
  return Number(major) > 1 || (Number(major) === 1 && Number(minor) >= 24)
}

/** Until Go 1.24 the list of vendored modules was packed, and folders further down were looked at from a wrong place. */
function isVendored(name: string, from124: boolean): boolean {
  if (from124 && name === 'vendor/modules.txt') return true
  if (name.startsWith('vendor/')) return name.slice('vendor/'.length).includes('/')
  const at = name.indexOf('/vendor/')
  if (at < 0) return false
  return name.slice((from124 ? at : 0) + '/vendor/'.length).includes('/')
}

async function* itemsOf(repo: Repo, files: readonly ModuleFile[]): AsyncGenerator<Item> {
  for (const { entry, name: path } of files) {
    const { body, content, size } = await streamBlob(repo, entry.id)
    yield { kind: 'file', path, executable: false, size, body: content ?? body }
  }
}
