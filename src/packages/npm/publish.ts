import type { Project } from '../../access/subjects.ts'
import { invalidText, Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { RequestFacts } from '../../http/endpoint.ts'
import { assertMayPush } from '../protection/conditions.ts'
import { publishFile } from '../registry/publish.ts'
import { storeFile } from '../registry/receive.ts'
import { readPublish } from './document.ts'
import { tarballName } from './names.ts'
import { isVersionElsewhere } from './queries.ts'
import { splitBody } from './split-body.ts'
import { assertSameManifest } from './tarball.ts'

function taken(): Problem {
  return new Problem('forbidden', 403, { message: 'Package already exists.' })
}

/** What `npm publish` asks: the tarball is checked before anybody sees the version. */
export async function publishNpmPackage(
  ctx: Ctx,
  project: Project,
  name: string,
  request: Pick<RequestFacts, 'body'>,
): Promise<void> {
  await assertMayPush(ctx, project, 'npm', name)
  const { document, attachments } = await splitBody(request.body, (_file, bytes) =>
    storeFile(ctx, 'npm', bytes, { sha512: true }),
  )
  const publish = readPublish(document, name, attachments)
  const [received] = attachments.values()
  if (!received) throw new Error('a checked document has no attachment')
  await assertSameManifest(ctx, received.sha256, publish)
  const { version } = publish
  await publishFile(ctx, project, {
    type: 'npm',
    name,
    version,
    metadata: publish.manifest,
    deprecated: publish.deprecated,
    tags: publish.tags,
    file: { name: tarballName(name, version), received },
    refuse: taken,
    async check(db) {
      if (await isVersionElsewhere(db, project, name, version)) {
        throw invalidText('Validation failed: Package already exists in another project')
      }
    },
  })
}
