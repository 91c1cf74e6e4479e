/** Paths that name parts of the server itself, so that no user or top-level group may have them (docs/contract/D §1.2 Rules). */
const RESERVED_TOP = new Set(
  `- .well-known 404.html 422.html 500.html 502.html 503.html admin api apple-touch-icon.png assets dashboard deploy.html
   explore favicon.ico favicon.png files groups health_check help import jwt login oauth profile projects public
   robots.txt s search sitemap sitemap.xml sitemap.xml.gz slash-command-logo.png snippets unsubscribes uploads users
   v2`.split(/\s+/),
)

/** Words that mean something behind a project's path (docs/contract/D §1.2 Rules). */
const RESERVED_PROJECT = new Set(
  `- badges blame blob builds commits create create_dir edit environments/folders files find_file info/lfs/objects new
   preview raw refs tree update wikis`.split(/\s+/),
)

/** Words that mean something behind a group's path, beside those of projects. */
const RESERVED_SUBGROUP = new Set([...RESERVED_PROJECT, 'group_members', 'labels', 'milestones'])

const MAX_LENGTH = 255

const PATH_TEXT =
  "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-', end in '.git' or end in '.atom'"
const GROUP_PATH_TEXT =
  "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-' or end in '.', '.git' or '.atom'."
const NAME_TEXT =
  "can contain only letters, digits, emoji, '_', '.', '+', dashes, or spaces. It must start with a letter, digit, emoji, or '_'."
const GROUP_NAME_TEXT =
  'can contain only letters, digits, emoji, underscores, periods, dashes, parentheses, and spaces. It must start with a letter, digit, emoji, or underscore.'

function lengthFaults(value: string): string[] {
  if (value.trim() === '') return ["can't be blank"]
  return [...value].length > MAX_LENGTH ? [`is too long (maximum is ${MAX_LENGTH} characters)`] : []
}

/** Letters, digits, `_`, `-`, `.`; no special character first but `_`, none last but `_`, no two in a row. */
function isProjectPath(path: string): boolean {
  return (
    /^[A-Za-z0-9_](?:[A-Za-z0-9_]|[-.](?![-.]))*$/.test(path) &&
    !/(?:[-.]|\.git|\.atom)$/i.test(path)
  )
}

function isGroupPath(path: string): boolean {
  return /^[A-Za-z0-9_.][A-Za-z0-9_.-]*$/.test(path) && !/(?:[-.]|\.git|\.atom)$/i.test(path)
}

/** What is wrong with the path of a project, in the model's words; nothing when it is good. */
export function projectPathFaults(path: string): string[] {
  const length = lengthFaults(path)
  if (length.length > 0) return length
  if (!isProjectPath(path)) return [PATH_TEXT]
  return RESERVED_PROJECT.has(path.toLowerCase()) ? [`${path} is a reserved name`] : []
}

/** What is wrong with the path of a group; words of the server are refused, at the top and below. */
export function groupPathFaults(path: string, top: boolean): string[] {
  const length = lengthFaults(path)
  if (length.length > 0) return length
  if (!isGroupPath(path)) return [GROUP_PATH_TEXT]
  const reserved = top ? RESERVED_TOP : RESERVED_SUBGROUP
  return reserved.has(path.toLowerCase()) ? [`${path} is a reserved name`] : []
}

/** Whether a user may have this name, which is also the path of the user's namespace. */
export function isReservedTopPath(path: string): boolean {
  return RESERVED_TOP.has(path.toLowerCase())
}

/** What is wrong with the name of a project. */
export function projectNameFaults(name: string): string[] {
  const length = lengthFaults(name)
  if (length.length > 0) return length
  const fits =
    /^[\p{L}\p{N}\p{So}\p{Extended_Pictographic}_](?:[\p{L}\p{M}\p{Pd}\p{N}\p{So}\p{Extended_Pictographic}_. +-]|\u200d)*$/u
  return fits.test(name) ? [] : [NAME_TEXT]
}

/** What is wrong with the name of a group. */
export function groupNameFaults(name: string): string[] {
  const length = lengthFaults(name)
  if (length.length > 0) return length
  const fits =
    /^[\p{L}\p{N}\p{So}\p{Extended_Pictographic}_](?:[\p{L}\p{M}\p{Pd}\p{N}\p{So}\p{Extended_Pictographic}_. ()&+'/-]|\u200d)*$/u
  return fits.test(name) ? [] : [GROUP_NAME_TEXT]
}

/** The path of a project of which only the name was given: lower-case, other characters become dashes. */
export function pathFromName(name: string): string {
  return name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9_.]+/g, '-')
    .replaceAll(/([-.])[-.]+/g, '$1')
    .replaceAll(/^[-.]+|[-.]+$/g, '')
}
