import { type Access, anyone, onGroup } from '../../access/subjects.ts'
import { forbidden } from '../../base/problem.ts'
import { challenging, clientRead, clientWrite, onProjectPackages } from '../registry/access.ts'
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

/** The programs of protocol 2 alone; later ones sign in wherever they are asked to. */
const oldClient = /^NuGet\/[12]\./

/**
 * The feed's own address tells nothing about the project, and everybody may read it. Old clients sign in nowhere else:
 * an anonymous one is asked to where the packages would be refused.
 */
export function onNugetFeed(): Access<object> {
  const packages = onProjectPackages('read_packages')
  return {
    ...anyone(),
    async find(request) {
      const isOld = oldClient.test(String(request.headers['user-agent'] ?? ''))
      if (isOld && request.ctx.actor.kind === 'anonymous') await packages.find(request)
      return {}
    },
  }
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
