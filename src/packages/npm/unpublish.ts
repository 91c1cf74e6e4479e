import { z } from 'zod'
import type { Project } from '../../access/subjects.ts'
import { badRequest, conflict, forbidden, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { RequestFacts } from '../../http/endpoint.ts'
import { inTransaction } from '../../store/transaction.ts'
import { findPackageOfId, listInstallable } from '../registry/find.ts'
import { removePackage } from '../registry/remove.ts'
import { findTarball } from './find-tarball.ts'
import { MOST_BYTES, type NpmPlace, revisionOf } from './metadata.ts'
import { listShownVersions } from './queries.ts'
import { splitBody } from './split-body.ts'

const remaining = z.object({ versions: z.record(z.string(), z.unknown()) })

/** What `npm unpublish NAME@VERSION` asks first: the document without the version, and which one it was made of. */
export async function unpublishVersions(
  ctx: Ctx,
  project: Project,
  name: string,
  request: Pick<RequestFacts, 'body'> & { readonly revision: string },
): Promise<void> {
  const { document } = await splitBody(request.body, async () => {
    throw badRequest('Versions are removed without an attachment')
  })
  const read = remaining.safeParse(document)
  if (!read.success) throw badRequest('versions is invalid')
  const { versions } = read.data
  await inTransaction(ctx, async (inner) => {
    const shown = await listShown(inner, project, name, request.revision)
    const gone = shown.filter(({ version }) => !Object.hasOwn(versions, version ?? ''))
    // npm sends owners and stars to the same address, and believes every success.
    if (gone.length === 0) throw forbidden('Only versions can be removed')
    await removeAll(inner, project, gone)
  })
}

/** What npm asks for the last version, and for `npm unpublish NAME`: everything goes, also what the document had no room for. */
export async function unpublishPackage(
  ctx: Ctx,
  project: Project,
  name: string,
  revision: string,
): Promise<void> {
  await inTransaction(ctx, async (inner) => {
    await listShown(inner, project, name, revision)
    await removeAll(
      inner,
      project,
      await listInstallable(inner, project, { type: 'npm', nameKey: name }),
    )
  })
}

/** What npm asks last. The version went with its document; where it is still there, it goes now: without a tarball it is nothing. */
export async function unpublishTarball(
  ctx: Ctx,
  project: Project,
  place: NpmPlace,
  fileName: string,
): Promise<void> {
  const file = await findTarball(ctx, place, fileName)
  if (!file) throw notFound('Package file')
  await removeAll(ctx, project, [{ id: file.package_id }])
}

/** The versions that the document of this revision has. */
async function listShown(ctx: Ctx, project: Project, name: string, revision: string) {
  const shown = await listShownVersions(ctx.db, [project.id], name, MOST_BYTES)
  if (shown.length === 0) throw notFound('Package')
  if (revisionOf(shown) !== revision) throw conflict('The package has changed meanwhile')
  return shown
}

async function removeAll(
  ctx: Ctx,
  project: Project,
  versions: readonly { readonly id: number }[],
): Promise<void> {
  for (const { id } of versions) {
    const row = await findPackageOfId(ctx, project, id)
    if (!row) throw notFound('Package')
    await removePackage(ctx, project, row)
  }
}
