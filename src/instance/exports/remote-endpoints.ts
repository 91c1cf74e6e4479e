import { signedIn } from '../../access/subjects.ts'
import { badRequest } from '../../base/problem.ts'
import { endpoint, perMinuteAsSet } from '../../http/endpoint.ts'
import { filledText } from '../../http/params.ts'
import { createProject } from '../../projects/projects/create/create-project.ts'
import { assertImportable } from '../../projects/projects/create/import-url.ts'
import { importEntity, presentImport } from './import-entity.ts'
import { importBody, importFacts } from './import-facts.ts'
import { sealAddress } from './remote-archive.ts'
import { importRemote } from './tasks.ts'

export const postRemoteImport = endpoint({
  method: 'POST',
  path: '/projects/remote-import',
  summary: 'Make a project from an archive at an address',
  access: signedIn(),
  body: {
    url: filledText({ max: 4000 }),
    ...importBody,
  },
  response: importEntity,
  limit: perMinuteAsSet('project_import_limit'),
  async handler({ ctx, body }) {
    if (!/^https:\/\//i.test(body.url)) throw badRequest('url must be a https address')
    await assertImportable(ctx, body.url)
    const sealed = sealAddress(ctx, body.url)
    const { project, fill } = await importFacts(ctx, body)
    const row = await createProject(ctx, {
      ...project,
      onShown: (ctx, id) =>
        ctx.work.enqueue(ctx.db, importRemote, { project_id: id, sealed_url: sealed, ...fill }),
    })
    return presentImport(row)
  },
})
