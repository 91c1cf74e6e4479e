import { createReadStream } from 'node:fs'
import { z } from 'zod'
import { presentProjectIdentity, projectIdentity } from '../../access/project-identity.ts'
import { onEither } from '../../access/sources.ts'
import { onProject, signedIn } from '../../access/subjects.ts'
import { badRequest, hidden } from '../../base/problem.ts'
import { bytes, endpoint, perMinuteAsSet } from '../../http/endpoint.ts'
import { file, filledText, hash, oneOf, text } from '../../http/params.ts'
import { createProject } from '../../projects/projects/create/create-project.ts'
import { assertImportable } from '../../projects/projects/create/import-url.ts'
import { importEntity, presentImport } from './import-entity.ts'
import { importBody, importFacts, mostBytes } from './import-facts.ts'
import { failedRelation } from './left-out.ts'
import { sealAddress } from './remote-archive.ts'
import {
  downloadExport,
  exportLeftOut,
  exportStatus,
  importLeftOut,
  startExport,
} from './start-export.ts'
import { importProject, importRemote } from './tasks.ts'

const accepted = z.strictObject({ message: z.literal('202 Accepted') })

export const postProjectExport = endpoint({
  method: 'POST',
  path: '/projects/:id/export',
  summary: 'Begin to export a project',
  access: onProject('admin_project'),
  body: {
    description: text({ max: 2000 }).optional(),
    // The Go client sends an empty one where nothing is to be uploaded.
    upload: hash({
      url: text({ max: 4000 }).optional(),
      http_method: oneOf(['PUT', 'POST']).optional(),
    }).optional(),
  },
  response: accepted,
  status: 202,
  limit: perMinuteAsSet('project_export_limit'),
  async handler({ ctx, project, body }) {
    if (!ctx.settings.get('project_export_enabled')) throw hidden()
    await startExport(ctx, { type: 'project', id: project.id }, body)
    return { message: '202 Accepted' as const }
  },
})

export const getProjectExport = endpoint({
  method: 'GET',
  path: '/projects/:id/export',
  summary: 'Get how far the export of a project is',
  access: onProject('admin_project'),
  response: z.strictObject({
    ...projectIdentity,
    export_status: z.enum(['none', 'queued', 'started', 'finished']),
    _links: z.strictObject({ api_url: z.string(), web_url: z.string() }).optional(),
    /** What the finished archive does not hold. */
    failed_relations: z.array(failedRelation),
  }),
  async handler({ ctx, project }) {
    const key = { type: 'project', id: project.id } as const
    const status = await exportStatus(ctx, key)
    const { externalUrl } = ctx.config
    const links = {
      api_url: `${externalUrl}/api/v4/projects/${project.id}/export/download`,
      web_url: `${externalUrl}/${project.full_path}/download_export`,
    }
    return {
      ...presentProjectIdentity(project),
      export_status: status,
      failed_relations: await exportLeftOut(ctx, key),
      ...(status === 'finished' ? { _links: links } : {}),
    }
  },
})

export const getExportDownload = endpoint({
  method: 'GET',
  path: '/:source/:id/export/download',
  summary: 'Download the export of a project or group',
  access: onEither({ projects: 'admin_project', groups: 'admin_group' }),
  response: bytes('application/gzip'),
  handler: ({ ctx, source }) => downloadExport(ctx, source, source.path),
})

export const getProjectImport = endpoint({
  method: 'GET',
  path: '/projects/:id/import',
  summary: 'Get how far the import of a project is',
  access: onProject('read_project', { signedIn: true }),
  response: importEntity,
  handler: async ({ ctx, project }) => presentImport(project, await importLeftOut(ctx, project.id)),
})

export const postProjectImport = endpoint({
  method: 'POST',
  path: '/projects/import',
  summary: 'Make a project from an archive',
  access: signedIn(),
  body: {
    file: file(),
    ...importBody,
  },
  response: importEntity,
  limit: perMinuteAsSet('project_import_limit'),
  async handler({ ctx, body }) {
    const { project, fill } = await importFacts(ctx, body)
    const maxSize = mostBytes(ctx, 'max_import_size')
    const { sha256: file } = await ctx.files.put(createReadStream(body.file.path), { maxSize })
    const row = await createProject(ctx, {
      ...project,
      onShown: (ctx, id) =>
        ctx.work.enqueue(ctx.db, importProject, { project_id: id, file, ...fill }),
    })
    return presentImport(row)
  },
})

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
