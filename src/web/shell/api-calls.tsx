import { useShown } from '../context.ts'
import { CopyButton } from '../parts/basics.tsx'

/** A word of a shell command, in quotes. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** The calls of the API that give the data of this page. */
export function ApiCalls() {
  const { calls, externalUrl } = useShown()
  const lines = [
    ...new Set(
      calls
        .filter(({ method }) => method === 'GET')
        .map(
          ({ path }) => `curl -H "PRIVATE-TOKEN: $TOKEN" ${quoted(`${externalUrl}/api/v4${path}`)}`,
        ),
    ),
  ]
  if (lines.length === 0) return null
  return (
    <details class="api-calls">
      <summary>This page by the API</summary>
      <ul>
        {lines.map((line) => (
          <li key={line}>
            <code>{line}</code>
            <CopyButton text={line} label="Copy this command" />
          </li>
        ))}
      </ul>
    </details>
  )
}
