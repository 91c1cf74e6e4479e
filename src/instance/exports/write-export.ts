import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { findGroupById, findProjectById } from '../../access/find-queries.ts'
import { existing } from '../../base/problem.ts'
import { LostFile } from '../../base/streams/lost-file.ts'
import type { Ctx } from '../../ctx.ts'
import { assertRefsWhole } from '../../git/refs/broken-refs.ts'
import { writeBundle } from '../../git/transfer/bundle.ts'
import { topicsOf } from '../../projects/projects/topics/topics-of.ts'
import { listAllLfsObjects } from '../../repositories/lfs/queries.ts'
import {
  BUNDLE_FILE,
  FORM,
  FORM_FILE,
  GROUP_FILE,
  type GroupRecord,
  LFS_FOLDER,
  PROJECT_FILE,
  type ProjectRecord,
  WIKI_FILE,
} from './archive-form.ts'
import { mostBytes } from './import-facts.ts'
import { findLeftOut, type LeftOutRelation } from './left-out.ts'
import {
  type ExportKey,
  findExport,
  listGroupsBelow,
  listOwnLabels,
  listOwnMilestones,
  updateExport,
} from './queries.ts'
import { withScratch } from './scratch.ts'
import { type Part, writeArchive } from './tar.ts'

const version: Part = { name: FORM_FILE, text: `${FORM}\n` }

function asSettings(text: string): Record<string, unknown> {
  return JSON.parse(text) as Record<string, unknown> // written by us as a JSON object
}

/** Builds the archive of a project or group and keeps it in the file store; gives its name there. */
export async function writeExport(ctx: Ctx, key: ExportKey, signal: AbortSignal): Promise<string> {
  await updateExport(ctx.db, key, { status: 'started' })
  return await withScratch(ctx, async (folder) => {
    const leftOut = key.type === 'project' ? await findLeftOut(ctx.db, key.id) : []
    const parts =
      key.type === 'project'
        ? await projectParts(ctx, key, { folder, leftOut }, signal)
        : await groupParts(ctx, key)
    const path = join(folder, 'export.tar.gz')
    await writeArchive(path, [version, ...parts])
    const maxSize = mostBytes(ctx, 'max_export_size')
    const stored = await ctx.files.put(createReadStream(path), { maxSize })
    await updateExport(ctx.db, key, {
      status: 'finished',
      file: stored.sha256,
      size: stored.size,
      finished_at: ctx.now(),
      left_out: JSON.stringify(leftOut),
    })
    return stored.sha256
  })
}

async function projectParts(
  ctx: Ctx,
  key: ExportKey,
  { folder, leftOut }: { readonly folder: string; readonly leftOut: readonly LeftOutRelation[] },
  signal: AbortSignal,
): Promise<Part[]> {
  const row = existing(await findProjectById(ctx.db, key.id), 'Project')
  const record: ProjectRecord = {
    form: FORM,
    name: row.name,
    // Whoever asked for the export may have said how it is to be described.
    description: (await findExport(ctx.db, key))?.description ?? row.description,
    visibility: row.visibility,
    default_branch: row.default_branch,
    topics: [...(await topicsOf(ctx, row.id))],
    settings: asSettings(row.settings),
    labels: await listOwnLabels(ctx.db, key),
    milestones: await listOwnMilestones(ctx.db, key),
    left_out: [...leftOut],
  }
  // git leaves out what is broken, without a word.
  await assertRefsWhole(ctx.git.open(row.id), signal)
  const bundle = join(folder, BUNDLE_FILE)
  const filled = await writeBundle(ctx.git.open(row.id), bundle, signal)
  const wiki = join(folder, WIKI_FILE)
  const written = await writeWikiBundle(ctx, row.id, wiki, signal)
  return [
    { name: PROJECT_FILE, text: JSON.stringify(record, null, 1) },
    ...(await lfsParts(ctx, row.id)),
    ...(filled ? [{ name: BUNDLE_FILE, path: bundle }] : []),
    ...(written ? [{ name: WIKI_FILE, path: wiki }] : []),
  ]
}

/** The large files of a project; one that is lost is an error, since a clone of the imported project would miss it. */
async function lfsParts(ctx: Ctx, projectId: number): Promise<Part[]> {
  const parts: Part[] = []
  for (const { oid, size } of await listAllLfsObjects(ctx.db, projectId)) {
    if ((await ctx.files.sizeOf(oid)) !== size) throw new LostFile(oid)
    parts.push({ name: `${LFS_FOLDER}/${oid}`, path: ctx.files.pathOf(oid) })
  }
  return parts
}

/** False for a project without a wiki, or with an empty one. */
async function writeWikiBundle(ctx: Ctx, projectId: number, path: string, signal: AbortSignal) {
  const name = { kind: 'project_wiki', id: projectId } as const
  return (await ctx.git.exists(name)) && (await writeBundle(ctx.git.open(name), path, signal))
}

async function groupParts(ctx: Ctx, key: ExportKey): Promise<Part[]> {
  const top = existing(await findGroupById(ctx.db, key.id), 'Group')
  const groups: GroupRecord['groups'] = []
  for (const row of await listGroupsBelow(ctx.db, key.id)) {
    const own = { type: 'group', id: row.id } as const
    groups.push({
      relative_path: row.full_path.slice(top.full_path.length + 1),
      name: row.name,
      path: row.path,
      description: row.description,
      visibility: row.visibility,
      project_creation_level: row.project_creation_level,
      subgroup_creation_level: row.subgroup_creation_level,
      settings: asSettings(row.settings),
      labels: await listOwnLabels(ctx.db, own),
      milestones: await listOwnMilestones(ctx.db, own),
    })
  }
  const record: GroupRecord = { form: FORM, groups }
  return [{ name: GROUP_FILE, text: JSON.stringify(record, null, 1) }]
}
