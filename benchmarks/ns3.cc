// The benchmark workloads in ns-3: one line of JSON on stdout. bench.py reads the workload from its
// scenario file, builds this (g++ -O3) and calls it; `ns3 --help` lists the settings, which are
// those of ns2.tcl, where the network is described.
//
// What differs from ns-2, by necessity: segments are 2 bytes smaller, to make room for the PPP
// header (so that data packets have the same size on the wire; ACKs have 42 bytes, more with SACK);
// SACK is on, because without it ns-3's NewReno collapses; buffers are bounded (--buffer).
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/nix-vector-routing-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3;

namespace {

constexpr uint32_t kHeaders = 42; // PPP 2, IPv4 20, TCP 20

uint64_t g_crossings = 0;

void CountCrossing(Ptr<const Packet>) { ++g_crossings; }

uint64_t PeakRssBytes()
{
    std::ifstream status("/proc/self/status");
    std::string word;
    uint64_t kib = 0;
    while (status >> word)
    {
        if (word == "VmHWM:" && status >> kib)
        {
            break;
        }
    }
    return kib * 1024;
}

double SecondsSince(std::chrono::steady_clock::time_point begin)
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Connects two nodes by a point-to-point link with drop-tail device queues and nothing above them.
class Wiring
{
  public:
    explicit Wiring(bool count) : m_count(count) { m_addresses.SetBase("10.0.0.0", "255.255.255.252"); }

    /// Returns the address of b's end.
    Ipv4Address Connect(Ptr<Node> a, Ptr<Node> b, double rate, double delay, uint32_t queue)
    {
        PointToPointHelper link;
        link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(static_cast<uint64_t>(rate))));
        link.SetChannelAttribute("Delay", TimeValue(Seconds(delay)));
        link.SetQueue("ns3::DropTailQueue<Packet>",
                      "MaxSize",
                      QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, queue)));
        NetDeviceContainer devices = link.Install(a, b);
        Ipv4InterfaceContainer interfaces = m_addresses.Assign(devices);
        m_addresses.NewNetwork();
        TrafficControlHelper().Uninstall(devices); // Assign put an fq_codel above each device
        if (m_count)
        {
            for (uint32_t end = 0; end < 2; ++end)
            {
                devices.Get(end)->TraceConnectWithoutContext("PhyRxEnd", MakeCallback(&CountCrossing));
            }
        }
        return interfaces.GetAddress(1);
    }

  private:
    bool m_count;
    Ipv4AddressHelper m_addresses;
};

} // namespace

int main(int argc, char* argv[])
{
    const auto processBegan = std::chrono::steady_clock::now();
    uint32_t pairs = 0, flows = 1, hops = 1, hopQueue = 20, accessQueue = 100000;
    uint32_t payload = 1000, window = 20, initialWindow = 0, initialSsthresh = 0, buffer = 2048;
    double duration = 10, hopRate = 2e6, hopDelay = 0.01, accessRate = 1e10;
    double startFirst = 0.1, startEvery = 0;
    std::string accessDelay = "0.001", routing = "nix", mode = "time";

    CommandLine arguments(__FILE__);
    arguments.AddValue("pairs", "senders and receivers on access links; 0: the chain's own ends", pairs);
    arguments.AddValue("flows", "bulk flows; flow i uses pair i mod pairs", flows);
    arguments.AddValue("hops", "links between the first and the last router", hops);
    arguments.AddValue("duration", "simulated seconds", duration);
    arguments.AddValue("hop_rate", "bit/s", hopRate);
    arguments.AddValue("hop_delay", "s", hopDelay);
    arguments.AddValue("hop_queue", "packets", hopQueue);
    arguments.AddValue("access_rate", "bit/s", accessRate);
    arguments.AddValue("access_delay", "s: one delay, or one for each pair, comma-separated", accessDelay);
    arguments.AddValue("access_queue", "packets", accessQueue);
    arguments.AddValue("payload", "bytes; + 40 on the wire", payload);
    arguments.AddValue("window", "packets", window);
    arguments.AddValue("initial_window", "packets; 0: ns-3's default", initialWindow);
    arguments.AddValue("initial_ssthresh", "packets; 0: ns-3's default", initialSsthresh);
    arguments.AddValue("start_first", "s", startFirst);
    arguments.AddValue("start_every", "s", startEvery);
    arguments.AddValue("buffer", "KiB, bound on the socket buffers", buffer);
    arguments.AddValue("routing", "global or nix", routing);
    arguments.AddValue("mode", "time, or count: link crossings too, which slows the run", mode);
    arguments.Parse(argc, argv);
    if ((routing != "global" && routing != "nix") || (mode != "time" && mode != "count"))
    {
        std::cerr << "ns3: --routing is global or nix, --mode is time or count\n";
        return 2;
    }

    const uint32_t segment = payload + 40 - kHeaders;
    const uint64_t bound = std::min<uint64_t>(uint64_t{window} * segment, uint64_t{buffer} * 1024);
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TcpClassicRecovery::GetTypeId()));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(segment));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(bound));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(uint64_t{buffer} * 1024));
    if (initialWindow > 0)
    {
        Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(initialWindow));
    }
    if (initialSsthresh > 0)
    {
        Config::SetDefault("ns3::TcpSocket::InitialSlowStartThreshold",
                           UintegerValue(initialSsthresh * segment));
    }

    NodeContainer routers, left, right;
    routers.Create(hops + 1);
    left.Create(pairs);
    right.Create(pairs);
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    if (routing == "nix")
    {
        stack.SetRoutingHelper(Ipv4NixVectorHelper());
    }
    stack.InstallAll();

    Wiring wiring(mode == "count");
    Ipv4Address lastHop;
    for (uint32_t j = 0; j < hops; ++j)
    {
        lastHop = wiring.Connect(routers.Get(j), routers.Get(j + 1), hopRate, hopDelay, hopQueue);
    }
    std::vector<double> accessDelays;
    std::istringstream words(accessDelay);
    for (std::string word; std::getline(words, word, ',');)
    {
        accessDelays.push_back(std::stod(word));
    }
    std::vector<Ipv4Address> destinations;
    for (uint32_t i = 0; i < pairs; ++i)
    {
        const double delay = accessDelays[i % accessDelays.size()];
        wiring.Connect(left.Get(i), routers.Get(0), accessRate, delay, accessQueue);
        destinations.push_back(
            wiring.Connect(routers.Get(hops), right.Get(i), accessRate, delay, accessQueue));
    }
    if (routing == "global")
    {
        Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    }

    std::vector<Ptr<PacketSink>> sinks;
    for (uint32_t i = 0; i < flows; ++i)
    {
        const uint16_t port = 1000 + i;
        const Ptr<Node> from = pairs == 0 ? routers.Get(0) : left.Get(i % pairs);
        const Ptr<Node> to = pairs == 0 ? routers.Get(hops) : right.Get(i % pairs);
        const Ipv4Address destination = pairs == 0 ? lastHop : destinations[i % pairs];
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
        ApplicationContainer receiver = sink.Install(to);
        receiver.Start(Seconds(0));
        sinks.push_back(receiver.Get(0)->GetObject<PacketSink>());
        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(destination, port));
        source.SetAttribute("SendSize", UintegerValue(segment));
        source.Install(from).Start(Seconds(startFirst + i * startEvery));
    }

    const double setup = SecondsSince(processBegan);
    const auto runBegan = std::chrono::steady_clock::now();
    Simulator::Stop(Seconds(duration));
    Simulator::Run();
    const double run = SecondsSince(runBegan);

    uint64_t packets = 0;
    for (const auto& sink : sinks)
    {
        packets += sink->GetTotalRx() / segment;
    }
    const std::string crossings = mode == "count" ? std::to_string(g_crossings) : "null";
    std::printf("{\"run_wall_s\": %.6f, \"setup_wall_s\": %.6f, \"packets\": %" PRIu64
                ", \"goodput_mbps\": %.6f, \"crossings\": %s, \"peak_rss_bytes\": %" PRIu64
                ", \"events\": %" PRIu64 "}\n",
                run,
                setup,
                packets,
                8e-6 * packets * (payload + 40) / duration,
                crossings.c_str(),
                PeakRssBytes(),
                Simulator::GetEventCount());
    std::fflush(stdout);
    std::_Exit(0); // tearing thousands of objects down is nobody's figure
}
