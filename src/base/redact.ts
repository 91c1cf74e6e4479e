const hidden = '[hidden]'

/** Names whose values are secrets: `token`, `private_token`, `rootPassword`, `Authorization`, but not `token_id`. */
const secretName =
  /(?:^|[_-])(?:token|password|passphrase|secret|authorization|cookie|credentials?|private_key|api_key)s?$/i

/** What hides in the middle of texts, and what stays of it. */
const secretTexts: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, hidden],
  // user:password@ of a URL. Each pattern looks at a long word from its beginning only: logs hold long ones.
  [/((?<![a-z0-9+.-])[a-z0-9+.-]+:\/\/)[^\s/?#@"']+@/gi, `$1${hidden}@`],
  // private_token=… in a query or a form, also after an encoded separator
  [
    /((?:^|[?&;\s"']|%3f|%26)(?:[a-z_]*(?:token|password|secret)|api_key)(?:=|%3d))[^&\s"'#;]+/gi,
    `$1${hidden}`,
  ],
  [/\b(Bearer|Basic|Token)\s+[a-z0-9+/._~=-]{6,}/gi, `$1 ${hidden}`],
  // "private_token": "…" of JSON, also of JSON within a text of JSON
  [
    /(["'](?:[a-z_-]*(?:token|password|secret)|api_key)\\?["']\s*:\s*\\?["'])(?:[^"'\\]|\\(?!["']))+/gi,
    `$1${hidden}`,
  ],
  // PRIVATE-TOKEN: … of headers
  [
    /((?<![a-z-])(?:(?:[a-z]+-)+token|(?:[a-z]+-)*(?:authorization|apikey|cookie))["']?\s*[:=]\s*)(?!Bearer |Basic |\\?["'])[^\s,;}]+/gi,
    `$1${hidden}`,
  ],
  // Keys that are a part of a path
  [/(\/sent_notifications\/)[^/\s"'?]+/g, `$1${hidden}`],
  // What clients are given for their secret, sealed
  [/\b(svct-)[\w-]{12,}/g, `$1${hidden}`],
  // Our own tokens, whatever the vendor's word before them
  [
    /\b([a-z][a-z0-9]{1,19}(?:pat|rt|dt|ptt|cbt|ft|oas|imt|agent|ffct)-)[\w.-]{12,}/gi,
    `$1${hidden}`,
  ],
]

/** A text without the secrets that it may carry. */
export function redactText(text: string): string {
  let clean = text
  for (const [pattern, left] of secretTexts) clean = clean.replace(pattern, left)
  return clean
}

/** Plain data without secrets, fit for one line of JSON. */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value)
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Error) return redactError(value, depth)
  if (value instanceof Uint8Array) return `[${value.byteLength} bytes]`
  if (depth > 5) return '[deep]'
  if (Array.isArray(value)) return value.slice(0, 100).map((item) => redact(item, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      isSecretName(key) && item !== null && item !== undefined ? hidden : redact(item, depth + 1),
    ]),
  )
}

function isSecretName(key: string): boolean {
  return secretName.test(key.replace(/([a-z])([A-Z])/g, '$1_$2'))
}

function redactError(error: Error, depth: number): unknown {
  return {
    name: error.name,
    message: redactText(error.message),
    stack: error.stack === undefined ? undefined : redactText(error.stack),
    ...('code' in error ? { code: redact(error.code, depth + 1) } : {}),
    ...(error.cause === undefined || depth > 3 ? {} : { cause: redact(error.cause, depth + 1) }),
  }
}
