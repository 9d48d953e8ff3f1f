import { describeOpenKruisePage, describePages, describeShopPages } from '../conformance/docs/index.ts';
import { startCluster } from './index.ts';

describePages('on a real control plane', startCluster);
describeOpenKruisePage(startCluster);
describeShopPages('on a real control plane', startCluster);
