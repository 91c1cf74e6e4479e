import { userOf } from '../../access/actor.ts'
import type { Project } from '../../access/subjects.ts'
import { notFound, type Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { PackageStatus, PackageType } from '../../store/schema/packages.ts'
import type { Db } from '../../store/schema.ts'
import { inTransaction } from '../../store/transaction.ts'
import { assertMayPush } from '../protection/conditions.ts'
import { forgetDocuments } from './documents.ts'
import { assertWithinQuota } from './limits.ts'
import {
  findFileRow,
  findJobPipeline,
  findPackageRow,
  insertFileRow,
  insertPackageRow,
  linkPipeline,
  moveTag,
  type PackageFileRow,
  type PackageKey,
  type PackageRow,
  saveMetadata,
  updatePackageRow,
} from './queries.ts'
import type { ReceivedFile } from './receive.ts'

/** A file to publish; `received` comes from `receiveFile` or `storeFile`. */
export interface NewFile {
  readonly name: string
  readonly received: ReceivedFile
  /** What the format keeps beside the file, as JSON. */
  readonly metadata?: unknown
}

/** One version of a package, with the file that is added to it. */
export interface Publication {
  readonly type: PackageType
  readonly name: string
  /** The name as the format compares names; the name itself by default. */
  readonly nameKey?: string
  /** Null only for Maven's metadata of all versions. */
  readonly version: string | null
  /** The version as the format compares versions; the version itself by default. */
  readonly versionKey?: string
  /** Of a package that is new. */
  readonly status?: PackageStatus
  /** The message for those who install a package that is new: it is deprecated from the beginning. */
  readonly deprecated?: string | undefined
  /** Of the package, whether it is new or not. */
  readonly setStatus?: PackageStatus | undefined
  /** What the format keeps beside the package, as JSON; replaces what is there. */
  readonly metadata?: unknown
  /** Tags that move to this version. */
  readonly tags?: readonly string[]
  /** None for formats whose packages are made of a commit. */
  readonly file?: NewFile | undefined
  /** Looks at the version that is there already; what it gives is the refusal. Without it, the file is added. */
  readonly refuse?: (found: Existing) => Problem | undefined
  /** A last look at the tables, in the transaction that publishes; throws to refuse. */
  readonly check?: (db: Db) => Promise<void>
}

export interface Existing {
  readonly package: PackageRow
  /** The newest file of the same name. */
  readonly file: PackageFileRow | undefined
}

export interface Published {
  readonly package: PackageRow
  readonly file: PackageFileRow | undefined
  /** Whether the version is new. */
  readonly isNew: boolean
}

/**
 * Publishes a version of a package, or adds a file to one, in one transaction: readers see all of it or nothing, and of
 * two who publish the same version at once the second finds the first one's. The bytes must be safe in the file store.
 */
export async function publishFile(
  ctx: Ctx,
  project: Project,
  publication: Publication,
): Promise<Published> {
  const { type, name, version, file } = publication
  const key: PackageKey = {
    type,
    nameKey: publication.nameKey ?? name,
    versionKey: publication.versionKey ?? version ?? '',
  }
  try {
    return await inTransaction(ctx, async (inner) => {
      await assertMayPush(inner, project, type, name)
      await assertWithinQuota(inner, project.id, file?.received.size ?? 0)
      await publication.check?.(inner.db)
      const known = await findPackageRow(inner.db, project.id, key)
      if (known) await assertMayAdd(inner.db, publication, known)
      const row = known ?? (await insertPackage(inner, project, publication, key))
      await applyStatus(inner, row, publication)
      const fileRow = file && (await insertFile(inner, row, file))
      if (publication.metadata !== undefined) {
        await saveMetadata(inner.db, row.id, JSON.stringify(publication.metadata))
      }
      for (const tag of publication.tags ?? []) await moveTag(inner.db, row, tag, inner.now())
      await linkBuild(inner, row.id, fileRow?.id)
      await forgetDocuments(inner.db, row)
      return { package: row, file: fileRow, isNew: known === undefined }
    })
  } catch (error) {
    // The project went while its file was on the way.
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    throw code === 'SQLITE_CONSTRAINT_FOREIGNKEY' ? notFound('Project') : error
  }
}

async function assertMayAdd(db: Db, { file, refuse }: Publication, known: PackageRow) {
  const same = file && (await findFileRow(db, known.id, file.name))
  const refusal = refuse?.({ package: known, file: same })
  if (refusal) throw refusal
}

async function applyStatus(ctx: Ctx, row: PackageRow, { setStatus }: Publication): Promise<void> {
  if (setStatus === undefined || setStatus === row.status) return
  await updatePackageRow(ctx.db, row.id, { status: setStatus }, ctx.now())
}

function insertPackage(ctx: Ctx, project: Project, publication: Publication, key: PackageKey) {
  const now = ctx.now()
  return insertPackageRow(ctx.db, {
    project_id: project.id,
    package_type: key.type,
    name: publication.name,
    name_key: key.nameKey,
    version: publication.version,
    version_key: key.versionKey,
    status: publication.status ?? (publication.deprecated === undefined ? 'default' : 'deprecated'),
    status_message: publication.deprecated ?? null,
    creator_id: userOf(ctx.actor)?.id ?? null,
    created_at: now,
    updated_at: now,
  })
}

function insertFile(ctx: Ctx, row: PackageRow, file: NewFile): Promise<PackageFileRow> {
  const now = ctx.now()
  const { received, metadata } = file
  return insertFileRow(ctx.db, {
    project_id: row.project_id,
    package_id: row.id,
    file_name: file.name,
    size: received.size,
    file_sha256: received.sha256,
    file_sha1: received.sha1,
    file_md5: received.md5,
    file_sha512: received.sha512,
    metadata: metadata === undefined ? null : JSON.stringify(metadata),
    created_at: now,
    updated_at: now,
  })
}

/** What a job publishes carries the pipeline of that job. */
async function linkBuild(ctx: Ctx, packageId: number, fileId: number | undefined): Promise<void> {
  if (ctx.actor.kind !== 'job') return
  const pipelineId = await findJobPipeline(ctx.db, ctx.actor.jobId)
  if (pipelineId !== undefined) await linkPipeline(ctx.db, pipelineId, { packageId, fileId })
}
