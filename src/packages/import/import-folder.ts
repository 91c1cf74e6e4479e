import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import type { Project } from '../../access/subjects.ts'
import { Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { readMavenPath } from '../maven/path.ts'
import { findMavenFile } from '../maven/queries.ts'
import { putMavenFile } from '../maven/upload.ts'
import { importNpmTarball } from '../npm/import-tarball.ts'
import { importDistribution } from '../pypi/import-file.ts'

export interface ImportReport {
  readonly imported: number
  /** Those that were there already. */
  readonly known: number
  readonly refused: readonly { readonly file: string; readonly reason: string }[]
}

type Outcome = 'imported' | 'known'
type Importer = (ctx: Ctx, project: Project, file: string, within: string) => Promise<Outcome>

/** What a folder may hold that was carried over on a disk. */
export const IMPORT_KINDS = ['npm', 'maven', 'pypi'] as const
export type ImportKind = (typeof IMPORT_KINDS)[number]

interface Kind {
  readonly accepts: (path: string) => boolean
  readonly take: Importer
}

const kinds: Readonly<Record<ImportKind, Kind>> = {
  // Tarballs by name, and those of npm's own cache, which are named by their hash.
  npm: {
    accepts: (path) => path.endsWith('.tgz') || /(^|\/)content-v2\/sha512\/../.test(path),
    take: (ctx, project, file) => importNpmTarball(ctx, project, createReadStream(file)),
  },
  pypi: {
    accepts: (path) => /\.(whl|tar\.gz)$/.test(path),
    take: (ctx, project, file) => importDistribution(ctx, project, file),
  },
  // Its own notes and checksums stay behind.
  maven: {
    accepts: (path) => !/(^|\/)[._][^/]*$|\.(sha1|md5|lastUpdated|repositories)$/.test(path),
    take: importMavenFile,
  },
}

/** Publishes what a folder holds; a file that is refused is reported and does not stop the others. */
export async function importFolder(
  ctx: Ctx,
  project: Project,
  folder: string,
  options: {
    readonly kind: ImportKind
    readonly signal: AbortSignal
    readonly onFile: (path: string) => void
  },
): Promise<ImportReport> {
  const { accepts, take } = kinds[options.kind]
  const counts = { imported: 0, known: 0 }
  const refused: { file: string; reason: string }[] = []
  for await (const file of filesIn(folder)) {
    options.signal.throwIfAborted()
    const within = relative(folder, file).split(sep).join('/')
    if (!accepts(within)) continue
    options.onFile(within)
    try {
      counts[await take(ctx, project, file, within)] += 1
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      refused.push({ file: within, reason: error.message })
    }
  }
  return { ...counts, refused }
}

/** Plain files only: a link could lead anywhere. */
async function* filesIn(folder: string): AsyncGenerator<string> {
  const entries = await readdir(folder, { withFileTypes: true })
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* filesIn(path)
    else if (entry.isFile()) yield path
  }
}

async function importMavenFile(
  ctx: Ctx,
  project: Project,
  file: string,
  within: string,
): Promise<Outcome> {
  const path = readMavenPath(within.replace(/maven-metadata-[^/]+\.xml$/, 'maven-metadata.xml'))
  const there = await findMavenFile(ctx, { projectId: project.id }, path)
  if (there?.file_sha256 === (await sha256Of(file))) return 'known'
  await putMavenFile(ctx, project, path, { headers: {}, body: createReadStream(file) })
  return 'imported'
}

async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file)) hash.update(chunk)
  return hash.digest('hex')
}
