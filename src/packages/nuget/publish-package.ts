import type { Project } from '../../access/subjects.ts'
import { badRequest, conflict, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { RequestFacts } from '../../http/endpoint.ts'
import { assertMayPush } from '../protection/conditions.ts'
import { findInstallable } from '../registry/find.ts'
import { assertWithinQuota, maxFileSize } from '../registry/limits.ts'
import { publishFile } from '../registry/publish.ts'
import { eachZipItem, type ZipItem } from '../registry/read-zip.ts'
import type { ReceivedFile } from '../registry/receive.ts'
import { storeFile } from '../registry/receive.ts'
import { receiveForm } from '../registry/receive-form.ts'
import { mayDuplicate } from '../settings/settings.ts'
import { type Nuspec, readNuspec } from './nuspec.ts'
import { readNuspecText } from './nuspec-file.ts'
import { readSymbolId } from './pdb.ts'
import { normalVersion } from './version.ts'

const MOST_SYMBOLS = 100
const MOST_SYMBOL_FILE = 32 * 1024 * 1024

/** A checked package: as its nuspec names it, and as NuGet compares that. */
interface Named extends Nuspec {
  readonly nameKey: string
  readonly versionKey: string
}

/** Publishes a package by what its own nuspec says, or the symbols of one that is there. */
export async function publishNuget(
  ctx: Ctx,
  project: Project,
  request: Pick<RequestFacts, 'headers' | 'body'>,
  kind: 'nupkg' | 'snupkg',
): Promise<void> {
  const { file } = await receiveForm(ctx, 'nuget', request, 'package', { sha512: true })
  if (!file || file.kept.size === 0) throw badRequest('package is missing')
  const received = file.kept
  const named = await readPackage(ctx, received)
  const fileName = `${named.nameKey}.${named.versionKey}.${kind}`
  const mayRepeat = await mayDuplicate(ctx, project, 'nuget', [named.id, named.version])
  const key = { type: 'nuget', nameKey: named.nameKey, versionKey: named.versionKey } as const
  const common = { ...key, name: named.id, version: named.version }
  const isSymbols = kind === 'snupkg'
  if (isSymbols) await assertTakesSymbols(ctx, project, named, received)
  const symbols = isSymbols ? await readSymbols(ctx, received) : []
  await publishFile(ctx, project, {
    ...common,
    // The nuspec of symbols says less: nothing of dependencies.
    metadata: isSymbols ? undefined : named.metadata,
    file: { name: fileName, received },
    async check(db) {
      if (isSymbols && !(await findInstallable({ db }, project, key))) throw notFound('Package')
    },
    refuse: (found) =>
      found.file && !mayRepeat
        ? conflict('A package with the same name and version already exists')
        : undefined,
  })
  // Only once the package is not refused: they replace those of the same names.
  for (const symbol of symbols) await publishFile(ctx, project, { ...common, file: symbol })
}

async function readPackage(ctx: Ctx, received: ReceivedFile): Promise<Named> {
  const text = await readNuspecText(ctx, received.sha256)
  if (text === undefined) throw badRequest('The package has no nuspec')
  const nuspec = readNuspec(text)
  if (!/^[A-Za-z0-9_]+(?:[._-][A-Za-z0-9_]+)*$/.test(nuspec.id)) {
    throw badRequest('The nuspec has no valid id')
  }
  const versionKey = normalVersion(nuspec.version)?.toLowerCase()
  if (versionKey === undefined) throw badRequest('The nuspec has no valid version')
  return { ...nuspec, nameKey: nuspec.id.toLowerCase(), versionKey }
}

/**
 * Symbol files are stored before they are published, and a small package holds gigabytes of them: first it is asked, as
 * far as that can be known by then, whether they may be.
 */
async function assertTakesSymbols(
  ctx: Ctx,
  project: Project,
  { id, nameKey, versionKey }: Named,
  received: ReceivedFile,
): Promise<void> {
  await assertMayPush(ctx, project, 'nuget', id)
  const found = await findInstallable(ctx, project, { type: 'nuget', nameKey, versionKey })
  if (!found) throw notFound('Package')
  let size = 0
  await eachZipItem(ctx, received.sha256, async (item) => {
    if (isSymbolFile(item)) size += item.size
    return true
  })
  if (size > maxFileSize(ctx, 'nuget')) throw badRequest('The symbol files are too large')
  await assertWithinQuota(ctx, project.id, received.size + size)
}

const isSymbolFile = ({ path }: ZipItem) => /\.pdb$/i.test(path)

/** The symbol files of a package that debuggers can ask for. */
async function readSymbols(ctx: Ctx, received: ReceivedFile) {
  const found: { name: string; received: ReceivedFile; metadata: unknown }[] = []
  await eachZipItem(ctx, received.sha256, async (item) => {
    if (!isSymbolFile(item)) return true
    if (found.length >= MOST_SYMBOLS) throw badRequest('The package has too many symbol files')
    const content = await readSymbolFile(item)
    const id = readSymbolId(content)
    const name = (item.path.split(/[/\\]/).at(-1) ?? '').toLowerCase()
    if (id && /^[\w.+-]{1,255}$/.test(name)) {
      found.push({ name, received: await storeFile(ctx, 'nuget', [content]), metadata: id })
    }
    return true
  })
  return found
}

async function readSymbolFile(item: ZipItem): Promise<Buffer> {
  if (item.size > MOST_SYMBOL_FILE) throw badRequest('A symbol file is too large')
  const chunks: Buffer[] = []
  try {
    for await (const chunk of await item.open()) chunks.push(chunk as Buffer)
  } catch {
    throw badRequest('The package is no valid zip file')
  }
  return Buffer.concat(chunks)
}
