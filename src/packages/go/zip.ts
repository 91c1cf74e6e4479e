import { Readable } from 'node:stream'
import type { Project } from '../../access/subjects.ts'
import { badRequest } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { Item } from '../../git/archive/items.ts'
import { zip } from '../../git/archive/zip.ts'
import { streamBlob } from '../../git/objects/blob.ts'
import { listTipFiles } from '../../git/objects/tip-files.ts'
import { readTree } from '../../git/objects/tree.ts'
import type { Repo } from '../../git/repo.ts'
import type { TreeEntry } from '../../git/types.ts'
import type { GoModule } from './module.ts'
import type { GoVersion } from './versions.ts'

const MOST_BYTES = 100 * 1024 * 1024
const MOST_FILES = 100_000

/**
 * The files of a module as the go command packs them: below `<module>@<version>/`, without modules that are nested in it,
 * links and submodules.
 */
export async function zipModule(
  ctx: Ctx,
  project: Project,
  module: GoModule,
  { version, commit }: GoVersion,
): Promise<Readable> {
  const repo = ctx.git.open(project.id)
  const { entries } = await readTree(repo, { ref: commit.id, path: module.folder, recursive: true })
  const own = filesOf(entries, module.folder)
  if (own.length > MOST_FILES) throw badRequest('The module has too many files')
  const sizes = new Map((await listTipFiles(repo, commit.id)).map((one) => [one.path, one.size]))
  const total = own.reduce((sum, { path }) => sum + (sizes.get(path) ?? 0), 0)
  if (total > MOST_BYTES) throw badRequest('The module is too large')
  const time = new Date(commit.committer.seconds * 1000)
  const frame = { name: `${module.name}@${version}`, commitId: commit.id, time }
  return Readable.from(zip(itemsOf(repo, module, own), frame), { objectMode: false })
}

function filesOf(entries: readonly TreeEntry[], folder: string): TreeEntry[] {
  const top = folder === '' ? '' : `${folder}/`
  const nested = entries
    .filter((entry) => entry.path.endsWith('/go.mod') && entry.path !== `${top}go.mod`)
    .map((entry) => entry.path.slice(0, -'go.mod'.length))
  const isNested = (path: string) => nested.some((start) => path.startsWith(start))
  return entries.filter((entry) => /^100/.test(entry.mode) && !isNested(entry.path))
}

async function* itemsOf(
  repo: Repo,
  module: GoModule,
  files: readonly TreeEntry[],
): AsyncGenerator<Item> {
  const skip = module.folder === '' ? 0 : module.folder.length + 1
  for (const file of files) {
    const { body, content, size } = await streamBlob(repo, file.id)
    const path = file.path.slice(skip)
    yield { kind: 'file', path, executable: false, size, body: content ?? body }
  }
}
