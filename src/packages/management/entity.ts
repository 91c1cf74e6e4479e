import { z } from 'zod'
import { mayInProject, maySee } from '../../access/decide.ts'
import { findVisibleProject, type Project } from '../../access/subjects.ts'
import { mayReadBuilds } from '../../ci/pipelines/access.ts'
import type { Ctx } from '../../ctx.ts'
import { presentUserBasic, userBasicEntity } from '../../identity/users/basic.ts'
import { pipelineBasicEntity } from '../../repositories/commits/pipeline-entity.ts'
import type { PackageFileRow, PackageRow } from '../registry/find.ts'
import { DISPLAYED } from '../registry/packages.ts'
import {
  findDownloadedAt,
  listOtherVersions,
  listPipelinesOf,
  listTagsOf,
  type PipelineOfPackage,
} from './queries.ts'

/** The pipeline that published a package (docs/contract/C §Package pipeline). */
export const packagePipelineEntity = pipelineBasicEntity
  .omit({ name: true })
  .extend({ user: userBasicEntity.nullable() })

const tagEntity = z.strictObject({
  id: z.int(),
  package_id: z.int(),
  name: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
})

const pipelineList = z.array(packagePipelineEntity).optional()

/** A package in a list (docs/contract/C §Package). */
export const packageEntity = z.strictObject({
  id: z.int(),
  name: z.string(),
  conan_package_name: z.string().optional(),
  version: z.string().nullable(),
  package_type: z.string(),
  status: z.string(),
  _links: z.strictObject({
    web_path: z.string().optional(),
    delete_api_path: z.string().optional(),
  }),
  created_at: z.string(),
  last_downloaded_at: z.string().nullable().optional(),
  project_id: z.int().optional(),
  project_path: z.string().optional(),
  pipeline: packagePipelineEntity.optional(),
  pipelines: pipelineList,
  tags: z.array(tagEntity),
})

/** One package, with the other versions of its name. */
export const fullPackageEntity = packageEntity.extend({
  versions: z.array(
    z.strictObject({
      id: z.int(),
      version: z.string(),
      created_at: z.string(),
      tags: z.array(tagEntity),
      pipelines: pipelineList,
    }),
  ),
})

export const packageFileEntity = z.strictObject({
  id: z.int(),
  package_id: z.int(),
  created_at: z.string(),
  file_name: z.string(),
  size: z.int(),
  file_md5: z.string(),
  file_sha1: z.string(),
  file_sha256: z.string(),
  pipelines: pipelineList,
})

export type PackageShown = z.input<typeof packageEntity>

function presentPackagePipeline(
  ctx: Pick<Ctx, 'config'>,
  project: Pick<Project, 'full_path'>,
  row: PipelineOfPackage,
): z.input<typeof packagePipelineEntity> {
  const { pipeline_id: id, iid, project_id, sha, ref, status, source, created_at, updated_at } = row
  const web_url = `${ctx.config.externalUrl}/${project.full_path}/-/pipelines/${id}`
  const facts = { id, iid, project_id, sha, ref, status, source, created_at, updated_at, web_url }
  return { ...facts, user: userOfPipeline(ctx, row) }
}

type PipelineShown = ReturnType<typeof presentPackagePipeline>

/**
 * Pipelines by what they published in a project. The job of another project may have: its pipeline is for those who may
 * read the builds there.
 */
export async function presentBuilds(
  ctx: Ctx,
  project: Project,
  builds: ReadonlyMap<number, readonly PipelineOfPackage[]>,
): Promise<Map<number, PipelineShown[]>> {
  const projects = new Map([[project.id, project]])
  const ids = new Set([...builds.values()].flatMap((rows) => rows.map((row) => row.project_id)))
  for (const id of ids) {
    const other = id === project.id ? undefined : await findVisibleProject(ctx, String(id))
    if (other && mayReadBuilds(ctx, other)) projects.set(id, other)
  }
  const shown = (row: PipelineOfPackage) => {
    const of = projects.get(row.project_id)
    return of ? [presentPackagePipeline(ctx, of, row)] : []
  }
  return new Map([...builds].map(([id, rows]) => [id, rows.flatMap(shown)]))
}

function userOfPipeline(ctx: Pick<Ctx, 'config'>, row: PipelineOfPackage) {
  const { id, username, name, state } = row
  if (id === null || username === null || name === null || state === null) return null
  return presentUserBasic(ctx, { ...row, id, username, name, state })
}

/** Packages of one project as the caller sees them. */
export async function presentPackages(
  ctx: Ctx,
  project: Project,
  rows: readonly PackageRow[],
): Promise<PackageShown[]> {
  const ids = rows.map((row) => row.id)
  const tags = await listTagsOf(ctx.db, ids)
  const maySeeBuilds = mayReadBuilds(ctx, project)
  const builds =
    maySeeBuilds && (await presentBuilds(ctx, project, await listPipelinesOf(ctx.db, ids)))
  const mayDelete = mayInProject(ctx.actor, project, 'delete_package')
  return rows.map((row) => {
    const pipelines = builds ? builds.get(row.id) : undefined
    const last = pipelines?.at(-1)
    return {
      id: row.id,
      name: row.name,
      ...(row.package_type === 'conan' ? { conan_package_name: row.name.split('/')[0] ?? '' } : {}),
      version: row.version,
      package_type: row.package_type,
      status: row.status,
      _links: linksOf(ctx, project, row, mayDelete),
      created_at: row.created_at,
      ...(last ? { pipeline: last } : {}),
      ...(maySeeBuilds ? { pipelines: pipelines ?? [] } : {}),
      tags: tags.get(row.id) ?? [],
    }
  })
}

/** Of which project a package in the list of a group is, for those who see that. */
export function presentProjectOf(
  ctx: Pick<Ctx, 'actor'>,
  project: Project,
): Pick<PackageShown, 'project_id' | 'project_path'> {
  if (!maySee(ctx.actor, project)) return {}
  return { project_id: project.id, project_path: project.full_path }
}

function linksOf(ctx: Ctx, project: Project, row: PackageRow, mayDelete: boolean) {
  const { externalUrl } = ctx.config
  return {
    ...(DISPLAYED.includes(row.status) && maySee(ctx.actor, project)
      ? { web_path: `/${project.full_path}/-/packages/${row.id}` }
      : {}),
    ...(mayDelete
      ? { delete_api_path: `${externalUrl}/api/v4/projects/${project.id}/packages/${row.id}` }
      : {}),
  }
}

/** One package in full. */
export async function presentFullPackage(
  ctx: Ctx,
  project: Project,
  row: PackageRow,
): Promise<z.input<typeof fullPackageEntity>> {
  const [shown] = await presentPackages(ctx, project, [row])
  if (!shown) throw new Error('a package has no presentation')
  const others = await listOtherVersions(ctx.db, row)
  const ids = others.map((other) => other.id)
  const tags = await listTagsOf(ctx.db, ids)
  const builds =
    shown.pipelines && (await presentBuilds(ctx, project, await listPipelinesOf(ctx.db, ids)))
  const versions = others.map((other) => ({
    id: other.id,
    version: other.version ?? '',
    created_at: other.created_at,
    tags: tags.get(other.id) ?? [],
    ...(builds ? { pipelines: builds.get(other.id) ?? [] } : {}),
  }))
  return { ...shown, last_downloaded_at: await findDownloadedAt(ctx.db, row.id), versions }
}

export function presentPackageFile(
  row: PackageFileRow,
  pipelines: readonly PipelineShown[] | undefined,
): z.input<typeof packageFileEntity> {
  return {
    id: row.id,
    package_id: row.package_id,
    created_at: row.created_at,
    file_name: row.file_name,
    size: row.size,
    file_md5: row.file_md5,
    file_sha1: row.file_sha1,
    file_sha256: row.file_sha256,
    ...(pipelines ? { pipelines: [...pipelines] } : {}),
  }
}
