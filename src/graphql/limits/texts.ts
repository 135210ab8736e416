/**
 * How long the texts of an answer may be, by type and field, as the operations that write them allow. A field that is
 * missing here is short: an identifier, a moment, a name that the service chose. A test looks at every text of the
 * schema.
 */
import { TEXT } from '../../rules/limits.js';

type Lengths = Readonly<Record<string, number>>;

const ADDRESS: Lengths = {
  addressLine1: TEXT.line,
  addressLine2: TEXT.line,
  city: TEXT.line,
  state: TEXT.line,
  zipCode: TEXT.line,
  country: TEXT.line,
};

export const TEXT_CHARACTERS: Readonly<Record<string, Lengths>> = {
  User: { email: TEXT.email, firstName: TEXT.name, lastName: TEXT.name, phone: TEXT.line, profilePictureUrl: TEXT.url },
  ApiKey: { name: TEXT.name },
  Homeowner: { ...ADDRESS, propertyType: TEXT.kind },
  Contractor: {
    companyName: TEXT.line,
    businessType: TEXT.kind,
    licenseNumber: TEXT.line,
    licenseState: TEXT.line,
    insuranceProvider: TEXT.line,
    insurancePolicyNumber: TEXT.line,
    serviceAreas: TEXT.listItems * TEXT.line,
    specialties: TEXT.listItems * TEXT.line,
    bio: TEXT.long,
    website: TEXT.url,
  },
  Job: { ...ADDRESS, title: TEXT.title, description: TEXT.long, requirements: TEXT.long, category: TEXT.kind },
  // A decision has three texts, and no other event has more.
  JobEvent: { data: 3 * TEXT.note },
  Bid: { message: TEXT.long, paymentTerms: TEXT.note },
  Dispute: { reason: TEXT.note, details: TEXT.note },
  DisputeProposal: { resolution: TEXT.note, agreedBy: TEXT.line },
  DisputeEscalation: { reason: TEXT.note },
  DisputeDecision: { decision: TEXT.note, ruling: TEXT.note, resolutionTerms: TEXT.note },
  DisputeAppeal: { reason: TEXT.note, supportingEvidence: TEXT.note },
  DisputeFinalDecision: { finalDecision: TEXT.note, ruling: TEXT.note },
  DisputeEnd: { text: TEXT.note },
  TokenTransfer: { note: TEXT.note },
};
