import { type Access, onGroup } from '../../access/subjects.ts'
import { forbidden } from '../../base/problem.ts'
import { challenging, clientRead, clientWrite } from '../registry/access.ts'
import type { PackagePlace } from '../registry/place-queries.ts'
import { readPackageSettings } from '../settings/settings.ts'
import { findGroupPlace, findProjectPlace } from './place-queries.ts'

/** `nuget push -ApiKey` sends a token of any kind in a header of its own. */
const client = { ...clientRead.client, tokenHeader: 'x-nuget-apikey', userName: 'own' } as const

export const nugetRead = { ...clientRead, client } as const
export const nugetWrite = { ...clientWrite, client } as const

/** The packages of a group, for those who have signed in: clients send their name and token only when asked. */
export function onNugetGroup() {
  return challenging(onGroup('read_packages', { signedIn: true }))
}

/** Debuggers sign in nowhere; they name a file by an id and a hash that only its program has. */
export function onSymbols(level: 'projects' | 'groups'): Access<{ place: PackagePlace }> {
  return {
    kind: 'custom',
    needs: 'nuget_symbol_server_enabled',
    param: 'id',
    subjectFirst: false,
    before: () => {},
    async find({ ctx, path }) {
      const find = level === 'projects' ? findProjectPlace : findGroupPlace
      const found = await find(ctx.db, path.id ?? '')
      const settings = found && (await readPackageSettings(ctx.db, found.namespaceId))
      if (!settings?.nuget_symbol_server_enabled) throw forbidden()
      return { place: found?.place ?? { projectId: 0 } }
    },
  }
}
