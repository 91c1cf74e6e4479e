/** What a licence lets people do, asks of them, and does not give; the words of choosealicense.com's rules. */
export interface LicenseTerms {
  readonly popular: boolean
  readonly description: string
  readonly permissions: readonly string[]
  readonly conditions: readonly string[]
  readonly limitations: readonly string[]
}

const free = ['commercial-use', 'modifications', 'distribution', 'private-use']
const patents = ['commercial-use', 'modifications', 'distribution', 'patent-use', 'private-use']
const noWarranty = ['liability', 'warranty']
const copyleft = ['include-copyright', 'document-changes', 'disclose-source', 'same-license']

/** By the key of the licence; its text is `templates/licenses/<key>.txt`. */
export const licenseTerms: Readonly<Record<string, LicenseTerms>> = {
  'agpl-3.0': {
    popular: false,
    description: 'Strong copyleft that also counts for those who use the work over a network.',
    permissions: patents,
    conditions: [...copyleft, 'network-use-disclose'],
    limitations: noWarranty,
  },
  'apache-2.0': {
    popular: true,
    description:
      'A permissive licence that asks to keep notices and gives an express grant of patents.',
    permissions: patents,
    conditions: ['include-copyright', 'document-changes'],
    limitations: ['trademark-use', ...noWarranty],
  },
  'bsd-2-clause': {
    popular: false,
    description: 'A permissive licence in two conditions.',
    permissions: free,
    conditions: ['include-copyright'],
    limitations: noWarranty,
  },
  'bsd-3-clause': {
    popular: false,
    description:
      'As the BSD 2-Clause License, and nobody may promote their work with the names of the authors.',
    permissions: free,
    conditions: ['include-copyright'],
    limitations: noWarranty,
  },
  'gpl-2.0': {
    popular: false,
    description: 'Copyleft: whoever distributes the work gives its source under the same licence.',
    permissions: free,
    conditions: copyleft,
    limitations: noWarranty,
  },
  'gpl-3.0': {
    popular: true,
    description:
      'Strong copyleft with a grant of patents: whoever distributes the work gives its source.',
    permissions: patents,
    conditions: copyleft,
    limitations: noWarranty,
  },
  isc: {
    popular: false,
    description: 'A permissive licence, the shortest of them.',
    permissions: free,
    conditions: ['include-copyright'],
    limitations: noWarranty,
  },
  'lgpl-3.0': {
    popular: false,
    description: 'Copyleft for the library itself; works that only use it may have other licences.',
    permissions: patents,
    conditions: copyleft,
    limitations: noWarranty,
  },
  mit: {
    popular: true,
    description: 'A short permissive licence that asks only to keep its notice.',
    permissions: free,
    conditions: ['include-copyright'],
    limitations: noWarranty,
  },
  'mpl-2.0': {
    popular: false,
    description: 'Copyleft file by file: changed files stay open, whatever they are combined with.',
    permissions: patents,
    conditions: ['disclose-source', 'include-copyright', 'same-license--file'],
    limitations: ['trademark-use', ...noWarranty],
  },
  unlicense: {
    popular: false,
    description: 'Gives the work to the public domain, without any condition.',
    permissions: free,
    conditions: [],
    limitations: noWarranty,
  },
}
