import { badRequest, notFound } from '../../base/problem.ts'
import type { PackageKey } from '../registry/queries.ts'

/** A recipe: `name/version@user/channel`; a channel that is left out is `_`, and so is a user with it. */
export interface Recipe {
  readonly name: string
  readonly version: string
  readonly user: string
  readonly channel: string
}

const wordForm = /^[A-Za-z0-9_][A-Za-z0-9_+.-]{1,49}$/

/** Reads the recipe of a path; 400 for names that no recipe has. */
export function readRecipe(path: {
  readonly recipe_name: string
  readonly recipe_version: string
  readonly recipe_user: string
  readonly recipe_channel: string
}): Recipe {
  const { recipe_name: name, recipe_version: version } = path
  const { recipe_user: user, recipe_channel: channel } = path
  if (!wordForm.test(name) || !(wordForm.test(version) || /^[A-Za-z0-9_]$/.test(version))) {
    throw badRequest('the recipe is invalid')
  }
  if (user === '_' && channel !== '_') throw notFound('Package')
  if ([user, channel].some((word) => word !== '_' && !wordForm.test(word))) {
    throw badRequest('user or channel is invalid')
  }
  return { name, version, user, channel }
}

/** As clients print it. */
export function textOf(recipe: Recipe): string {
  return fullName(recipe).replace(/(@_)?\/_$/, '')
}

/** As packages of the registry are named, where nothing is left out. */
export function fullName({ name, version, user, channel }: Recipe): string {
  return `${name}/${version}@${user}/${channel}`
}

export function keyOf(recipe: Recipe): PackageKey {
  return { type: 'conan', nameKey: fullName(recipe), versionKey: recipe.version }
}

/** Where a file belongs: to a revision of a recipe, or to one of a package made by it. */
export interface Place {
  readonly rrev: string
  readonly pid?: string | undefined
  readonly prev?: string | undefined
}

/** Revisions of protocol 2 are hashes; in protocol 1 all are `0`. */
export function assertRevision(text: string): void {
  if (!/^(?:[0-9a-f]{32}|[0-9a-f]{40})$/.test(text)) throw badRequest('the revision is invalid')
}

export function assertPackageId(text: string | undefined): void {
  if (text !== undefined && !/^[A-Za-z0-9]{1,64}$/.test(text)) {
    throw badRequest('the package id is invalid')
  }
}

const RECIPE_FILES = ['conanfile.py', 'conanmanifest.txt', 'conan_sources.tgz', 'conan_export.tgz']
const PACKAGE_FILES = ['conaninfo.txt', 'conanmanifest.txt', 'conan_package.tgz']

/** The last file that clients upload of a revision, which makes it whole. */
export const MANIFEST = 'conanmanifest.txt'
export const INFO = 'conaninfo.txt'

export function isFileName(name: string, place: Place): boolean {
  return (place.pid === undefined ? RECIPE_FILES : PACKAGE_FILES).includes(name)
}
