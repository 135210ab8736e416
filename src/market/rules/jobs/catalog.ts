/** The values that forms suggest. Other values are allowed too, because no list can name every trade. */
export const CATALOG = {
  categories: [
    'plumbing',
    'electrical',
    'roofing',
    'painting',
    'flooring',
    'carpentry',
    'hvac',
    'landscaping',
    'masonry',
    'remodeling',
    'windows_and_doors',
    'insulation',
    'tiling',
    'fencing',
    'cleaning',
    'handyman',
  ],
  businessTypes: ['sole_proprietor', 'partnership', 'llc', 'corporation'],
  propertyTypes: ['single_family', 'townhouse', 'condo', 'apartment', 'multi_family', 'mobile_home'],
} as const;
