import type { Project } from '../../access/subjects.ts'
import { Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { RequestFacts } from '../../http/endpoint.ts'
import { publishFile } from '../registry/publish.ts'
import { receiveFile } from '../registry/receive.ts'
import { mayDuplicate } from '../settings/settings.ts'
import { assertModule, moduleName } from './names.ts'
import { isModuleElsewhere } from './queries.ts'

/** Publishes the archive of a module; a version is published once. */
export async function publishModule(
  ctx: Ctx,
  project: Project,
  named: { readonly name: string; readonly system: string; readonly version: string },
  request: Pick<RequestFacts, 'headers' | 'body'>,
): Promise<void> {
  const { system, version } = named
  assertModule(named.name, system, version)
  const name = moduleName(named.name, system)
  const mayRepeat = await mayDuplicate(ctx, project, 'terraform_module', [name])
  const received = await receiveFile(ctx, 'terraform_module', request)
  await publishFile(ctx, project, {
    type: 'terraform_module',
    name,
    version,
    file: { name: `${named.name}-${system}-${version}.tgz`, received },
    refuse: () => refusal('A module with the same name & version already exists in the project.'),
    async check(db) {
      if (mayRepeat || !(await isModuleElsewhere(db, project, name))) return
      throw refusal('A module with the same name already exists in the namespace.')
    },
  })
}

function refusal(message: string): Problem {
  return new Problem('forbidden', 403, { message })
}
