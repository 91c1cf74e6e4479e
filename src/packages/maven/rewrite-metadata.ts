import { createHash } from 'node:crypto'
import { z } from 'zod'
import { findProjectById } from '../../access/find-queries.ts'
import { withProjectRole } from '../../access/subjects.ts'
import { task } from '../../background/task.ts'
import type { Ctx } from '../../ctx.ts'
import { findInstallable, findPackageFile, listInstallable } from '../registry/find.ts'
import { publishFile } from '../registry/publish.ts'
import { storeFile } from '../registry/receive.ts'
import { removePackage } from '../registry/remove.ts'
import { MOST_METADATA } from './check.ts'
import { objectOf, readXml, writeXml } from './xml.ts'

const FILE = 'maven-metadata.xml'

/** Brings the metadata of all versions up to date after one of them was deleted (docs/contract/C-resolved §3.4). */
export const rewriteMavenMetadata = task({
  name: 'packages.rewrite_maven_metadata',
  payload: z.object({ project_id: z.int(), name: z.string() }),
  async handler(ctx: Ctx, { project_id, name }) {
    const found = await findProjectById(ctx.db, project_id)
    if (!found) return
    const project = await withProjectRole(ctx, found)
    const place = { type: 'maven', nameKey: name, versionKey: '' } as const
    const versionless = await findInstallable(ctx, project, place)
    const file = versionless && (await findPackageFile(ctx, versionless, FILE))
    if (!versionless || !file || file.size > MOST_METADATA) return
    const rows = await listInstallable(ctx, project, place)
    const versions = rows.flatMap((row) => (row.version === null ? [] : [row.version]))
    if (versions.length === 0) {
      await removePackage(ctx, project, versionless)
      return
    }
    const before = readXml((await ctx.files.read(file.file_sha256)).toString('utf8'), FILE)
    const text = writeXml({
      metadata: withVersions(objectOf(before.metadata), versions, ctx.now()),
    })
    for (const [fileName, content] of filesOf(text)) {
      const received = await storeFile(ctx, 'maven', [Buffer.from(content)])
      const published = { name: fileName, received }
      await publishFile(ctx, project, { type: 'maven', name, version: null, file: published })
    }
  },
})

function withVersions(
  metadata: Readonly<Record<string, unknown>>,
  versions: readonly string[],
  now: string,
) {
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

/** The file with its checksums; those of SHA-1 and MD5 are worked out when they are asked for. */
function filesOf(text: string): [string, string][] {
  const sum = (kind: string) => createHash(kind).update(text).digest('hex')
  return [
    [FILE, text],
    [`${FILE}.sha256`, sum('sha256')],
    [`${FILE}.sha512`, sum('sha512')],
  ]
}
