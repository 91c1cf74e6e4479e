import { signedIn } from '../../access/subjects.ts'
import { badRequest } from '../../base/problem.ts'
import { endpoint } from '../../http/endpoint.ts'
import { filledText, flag, hash, id, oneOf, text } from '../../http/params.ts'
import { createProject } from '../projects/create-project.ts'
import { assertImportable } from '../projects/import-url.ts'
import { getTargetNamespace } from '../projects/target-namespace.ts'
import { importEntity, presentImport } from './import-entity.ts'
import { makeRoom } from './make-room.ts'
import { sealAddress } from './remote-archive.ts'
import { importRemote } from './tasks.ts'

export const postRemoteImport = endpoint({
  method: 'POST',
  path: '/projects/remote-import',
  summary: 'Make a project from an archive at an address',
  tags: ['import and export'],
  access: signedIn(),
  body: {
    url: filledText({ max: 4000 }),
    path: filledText(),
    name: text().optional(),
    namespace: id().or(text()).optional(),
    overwrite: flag().optional(),
    override_params: hash({
      description: text().optional(),
      visibility: oneOf(['private', 'internal', 'public']).optional(),
    }).optional(),
  },
  response: importEntity,
  status: 201,
  async handler({ ctx, body }) {
    if (!/^https:\/\//i.test(body.url)) throw badRequest('url must be a https address')
    await assertImportable(ctx, body.url)
    const target = await getTargetNamespace(ctx, body.namespace)
    if (body.overwrite) await makeRoom(ctx, `${target.fullPath}/${body.path}`)
    const sealed = sealAddress(ctx, body.url)
    const row = await createProject(ctx, {
      name: body.name ?? body.path,
      path: body.path,
      namespace: target.id,
      description: body.override_params?.description,
      visibility: body.override_params?.visibility,
      importType: 'gitstead_project',
      importStatus: 'scheduled',
      onShown: (ctx, id) =>
        ctx.work.enqueue(ctx.db, importRemote, { project_id: id, sealed_url: sealed }),
    })
    return presentImport(row)
  },
})
