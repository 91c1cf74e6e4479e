/** A page for people and old clients, or PEP 691. */
export type PageForm = 'html' | 'json'

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

interface Link {
  readonly href: string
  readonly text: string
  readonly requiresPython?: string
  /** Why it should not be used any more (PEP 592). */
  readonly yanked?: string
  /** The hash of the metadata that is beside it (PEP 714). */
  readonly metadata?: string
}

function attribute(name: string, value: string | undefined): string {
  return value === undefined ? '' : ` data-${name}="${escaped(value)}"`
}

/** A page of links that pip reads (PEP 503). */
export function page(title: string, links: readonly Link[]): string {
  const lines = links.map((link) => {
    const data = [
      attribute('requires-python', link.requiresPython || undefined),
      attribute('yanked', link.yanked),
      attribute('core-metadata', link.metadata),
    ].join('')
    return `    <a href="${escaped(link.href)}"${data}>${escaped(link.text)}</a><br>`
  })
  return `<!DOCTYPE html>
<html>
  <head>
    <meta name="pypi:repository-version" content="1.0">
    <title>Links for ${escaped(title)}</title>
  </head>
  <body>
    <h1>Links for ${escaped(title)}</h1>
${lines.join('\n')}
  </body>
</html>
`
}
