import { createHash } from 'node:crypto'
import { z } from 'zod'
import { findProjectById } from '../../access/find-queries.ts'
import { type Project, withProjectRole } from '../../access/subjects.ts'
import { task } from '../../background/task.ts'
import type { Ctx } from '../../ctx.ts'
import { findInstallable, findPackageFile, listInstallable } from '../registry/find.ts'
import { publishFile } from '../registry/publish.ts'
import { storeFile } from '../registry/receive.ts'
import { removePackage } from '../registry/remove.ts'
import { MOST_METADATA } from './check.ts'
import { objectOf, readXml, writeXml, type Xml } from './xml.ts'

const FILE = 'maven-metadata.xml'

/**
 * Brings the metadata of all versions up to date after one of them was deleted, and the list of the plugins of its group
 * (docs/contract/C-resolved §3.4).
 */
export const rewriteMavenMetadata = task({
  name: 'packages.rewrite_maven_metadata',
  payload: z.object({ project_id: z.int(), name: z.string() }),
  async handler(ctx: Ctx, { project_id, name }) {
    const found = await findProjectById(ctx.db, project_id)
    if (!found) return
    const project = await withProjectRole(ctx, found)
    const versions = await listVersions(ctx, project, name)
    await rewrite(ctx, project, name, async (metadata) =>
      versions.length === 0 ? undefined : withVersions(metadata, versions, ctx.now()),
    )
    const group = name.slice(0, Math.max(0, name.lastIndexOf('/')))
    await rewrite(ctx, project, group, (metadata) => withPlugins(ctx, project, group, metadata))
  },
})

/** Writes metadata anew as `change` gives it; it goes when that is nothing, and stays when it is the same. */
async function rewrite(
  ctx: Ctx,
  project: Project,
  name: string,
  change: (metadata: Xml) => Promise<Xml | undefined>,
): Promise<void> {
  const versionless = await findInstallable(ctx, project, keyOf(name))
  const file = versionless && (await findPackageFile(ctx, versionless, FILE))
  if (!versionless || !file || file.size > MOST_METADATA) return
  const text = (await ctx.files.read(file.file_sha256)).toString('utf8')
  const before = objectOf(readXml(text, FILE).metadata)
  const metadata = await change(before)
  if (metadata === before) return
  if (metadata === undefined) return await removePackage(ctx, project, versionless)
  for (const [fileName, content] of filesOf(writeXml({ metadata }))) {
    const received = await storeFile(ctx, 'maven', [Buffer.from(content)])
    const published = { name: fileName, received }
    await publishFile(ctx, project, { type: 'maven', name, version: null, file: published })
  }
}

function keyOf(name: string) {
  return { type: 'maven', nameKey: name, versionKey: '' } as const
}

async function listVersions(ctx: Ctx, project: Project, name: string): Promise<string[]> {
  const rows = await listInstallable(ctx, project, keyOf(name))
  return rows.flatMap((row) => (row.version === null ? [] : [row.version]))
}

function withVersions(metadata: Xml, versions: readonly string[], now: string): Xml {
  const { release: _, ...versioning } = objectOf(metadata.versioning)
  const release = versions.findLast((version) => !version.endsWith('SNAPSHOT'))
  return {
    ...metadata,
    versioning: {
      ...versioning,
      latest: versions.at(-1),
      ...(release === undefined ? {} : { release }),
      versions: { version: versions },
      lastUpdated: now.replaceAll(/\D/g, '').slice(0, 14),
    },
  }
}

/** Without the plugins of which no version is left. */
async function withPlugins(
  ctx: Ctx,
  project: Project,
  group: string,
  metadata: Xml,
): Promise<Xml | undefined> {
  const listed = objectOf(metadata.plugins).plugin
  if (!Array.isArray(listed)) return metadata
  const left: unknown[] = []
  for (const plugin of listed) {
    const { artifactId } = objectOf(plugin)
    const versions = await listVersions(ctx, project, `${group}/${artifactId}`)
    if (versions.length > 0) left.push(plugin)
  }
  if (left.length === listed.length) return metadata
  return left.length === 0 ? undefined : { ...metadata, plugins: { plugin: left } }
}

/** The file with its checksums; those of SHA-1 and MD5 are worked out when they are asked for. */
function filesOf(text: string): [string, string][] {
  const sum = (kind: string) => createHash(kind).update(text).digest('hex')
  return [
    [FILE, text],
    [`${FILE}.sha256`, sum('sha256')],
    [`${FILE}.sha512`, sum('sha512')],
  ]
}
